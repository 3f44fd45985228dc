; Scopes.

[
  (source_file)
  (function_definition)
  (field_function_definition)
  (strand_definition)
  (block)
  (clause)
  (foreach_statement)
  (comprehension)
  (reduction)
  (create_array)
  (create_collection)
  (initially)
] @local.scope

; Definitions.

(constant_definition name: (identifier) @local.definition.constant)
(input_definition name: (identifier) @local.definition.var)
(axis_definition name: (identifier) @local.definition.type)
(variable_definition name: (identifier) @local.definition.var)
(output_definition name: (identifier) @local.definition.var)
(function_definition name: (identifier) @local.definition.function)
(field_function_definition name: (identifier) @local.definition.var)
(field_function_definition parameter: (identifier) @local.definition.parameter)
(field_function_definition time: (identifier) @local.definition.parameter)
(strand_definition name: (identifier) @local.definition.type)
(parameter name: (identifier) @local.definition.parameter)
(iterator name: (identifier) @local.definition.var)
(index_binding name: (identifier) @local.definition.var)

; Uses.

(identifier) @local.reference
