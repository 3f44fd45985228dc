[
  (strand_body)
  (block)
  (clauses)
  (arguments)
  (parameters)
  (parenthesized)
  (tensor)
  (sequence)
  (comprehension)
  (reduction)
  (create_array)
  (create_collection)
  (initially)
] @indent

["}" "]" ")"] @outdent
