[
  (strand_body)
  (block)
  (clauses)
  (block_comment)
  (create_array)
  (create_collection)
  (initially)
  (sequence)
  (tensor)
] @fold
