; For Neovim.

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
] @indent.begin

["}" "]" ")"] @indent.branch @indent.end

[(line_comment) (block_comment)] @indent.ignore
