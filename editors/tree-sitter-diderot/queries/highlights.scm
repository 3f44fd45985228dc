; No two patterns meet at one node, so their order does not matter: editors differ in which one wins.

(version_line) @keyword.directive
(line_comment) @comment
(block_comment) @comment

(string) @string
(escape) @string.escape
(integer) @number
(real) @number.float
(constant) @constant.builtin
(boolean) @boolean
(nan "nan" @constant.builtin)
(index_symbol) @constant.builtin

; Names where they are defined.

(constant_definition name: (identifier) @constant)
(input_definition name: (identifier) @variable.parameter)
(axis_definition name: (identifier) @type.definition)
(function_definition name: (identifier) @function)
(field_function_definition name: (identifier) @function)
(field_function_definition parameter: (identifier) @variable.parameter)
(field_function_definition time: (identifier) @variable.parameter)
(image_type time: (identifier) @type.builtin)
(field_type time: (identifier) @type.builtin)
(parameter name: (identifier) @variable.parameter)
(strand_definition name: (identifier) @type.definition)
(named_type (identifier) @type)
(new_statement strand: (identifier) @type)
(iterator name: (identifier) @variable.parameter)
(index_binding name: (identifier) @variable.parameter)
(selection member: (identifier) @variable.member)

; Words that are more than one thing.

(cast "real" @function.builtin)
(image_expression "image" @function.builtin)
(identity "identity" @function.builtin)
(zeros "zeros" @function.builtin)
(method name: _ @keyword.function)
(global_block name: _ @keyword.function)
(create_array "create_array" @keyword.function)
(create_collection "create_collection" @keyword.function)
(initially "initially" @keyword.function)
(import "import" @keyword.import)
(axis_definition "axis" @keyword)
(constant_definition "const" @keyword)
(input_definition "input" @keyword)
(output_definition "output" @keyword)
(function_definition "function" @keyword)
(strand_definition "strand" @keyword)

(primitive_type) @type.builtin
(tensor_type "tensor" @type.builtin)
(image_type "image" @type.builtin)
(field_type "field" @type.builtin)
(kernel_type "kernel" @type.builtin)
(mesh_type ["fem" "mesh"] @type.builtin)
(continuity) @attribute

(if_statement ["if" "else"] @keyword.conditional)
(conditional ["if" "else"] @keyword.conditional)
(foreach_statement "foreach" @keyword.repeat)
(iterator "in" @keyword.repeat)
(index_binding "in" @keyword.repeat)
(index_range "in" @keyword.repeat)
(return_statement "return" @keyword.return)
(print_statement "print" @function.builtin)
(new_statement "new" @keyword)
(stabilize_statement "stabilize" @keyword)
(die_statement "die" @keyword)
(continue_statement "continue" @keyword)

; Operators and brackets.

(binary operator: _ @operator)
(unary operator: _ @operator)
(derivative operator: _ @operator)
(partial_derivative operator: _ @operator)
(differential operator: _ @operator)
(assignment operator: _ @operator)
(range ".." @operator)
["="] @operator
(norm "|" @punctuation.bracket)
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ";" "."] @punctuation.delimiter

; Functions where they are used, and kernels: a variable of the same name hides them, which is not seen here.

; tables: written by the test `editors` with UPDATE_DOCS=1
([
  (call function: (identifier) @function.builtin)
  (reduction function: (identifier) @function.builtin)
  (call function: (subscript base: (identifier) @function.builtin))
 ]
 (#any-of? @function.builtin
  "GetCell" "KRNS" "MAX" "MIN" "SUM" "abs" "acos" "all" "argmax" "argmin" "asin" "atan" "atan2" "blur" "border" "bounds" "bounds2"
  "bounds3" "ceil" "clamp" "clerp" "compose" "concat" "cos" "cross" "curl" "det" "div" "dot" "endTime" "erf" "erfc" "evals"
  "evecs" "exists" "exp" "floor" "fmod" "frames" "grad" "identity" "inside" "insideF" "inv" "jacobian" "laplacian" "length" "lerp"
  "load" "load_fem" "load_image" "load_mesh" "load_sequence" "log" "log10" "log2" "max" "mean" "min" "mirror" "modulate" "norm"
  "normalize" "numActive" "numStable" "numStrands" "outer" "pow" "printIR" "product" "range" "round" "sin" "size" "spacing"
  "spacing2" "spacing3" "sphere" "sqrt" "startTime" "sum" "swap" "tan" "toField" "trace" "transpose" "trunc" "variance" "wrap"
  "zeros"
 ))
((identifier) @constant.builtin
 (#any-of? @constant.builtin "tent" "ctmr" "bspln3" "bspln5" "c4hexic" "c1tent" "c2tent" "c2ctmr"))
; end of tables
