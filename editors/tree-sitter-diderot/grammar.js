/**
 * Diderot, both versions. It accepts everything that the compiler reads, and a little more: which version has a construct, and in
 * which order the parts of a program stand, is left to `diderotc check`.
 */

// tables: written by the test `editors` with UPDATE_DOCS=1
const OR = ['||'];
const AND = ['&&'];
const COMPARISON = ['!=', '<', '<=', '==', '>', '>='];
const SUM = ['+', '-', '@'];
const PRODUCT = ['%', '*', '/', ':', '\\conv', '\\cross', '\\dot', '\\otimes', '×', '•', '⊗', '⊛', '⋅'];
const COMPOSITION = ['\\compose', '∘'];
const UNARY = ['!', '-'];
const POWER = ['^'];
const DERIVATIVE = ['\\curl', '\\div', '\\grad', '\\jacobian', '\\laplacian', '∇', '∇²', '∇×', '∇•', '∇⊗', '∇⋅'];
const CONSTANTS = ['\\inf', '\\pi', 'inf', 'π', '∞'];
const INDEX_SYMBOLS = ['δ', '\\delta', 'ε', '\\epsilon'];
const PARTIAL = ['∂', '\\partial'];
const GREEK_LETTERS = 'αβγζηθλμξπρστφψω';
const GREEK_WORDS = ['alpha', 'beta', 'gamma', 'zeta', 'eta', 'theta', 'lambda', 'mu', 'xi', 'pi', 'rho', 'sigma', 'tau', 'phi', 'psi', 'omega'];
// end of tables

/** Binding strength, loosest first: the levels of the operator table. */
const LEVEL = {
  conditional: 1,
  range: 2,
  or: 3,
  and: 4,
  comparison: 5,
  sum: 6,
  product: 7,
  composition: 8,
  unary: 9,
  power: 10,
  suffix: 11,
  derivative: 12,
};

const words = GREEK_WORDS.map(word => `\\\\${word}`).join('|');
const nameStart = `[A-Za-z${GREEK_LETTERS}]|${words}`;
const namePart = `[A-Za-z0-9_'${GREEK_LETTERS}]|${words}`;

const some = rule => seq(rule, repeat(seq(',', rule)));
const any = rule => optional(some(rule));
const oneOf = texts => (texts.length === 1 ? texts[0] : choice(...texts));

module.exports = grammar({
  name: 'diderot',

  extras: $ => [/\s/, $.line_comment, $.block_comment],

  word: $ => $.identifier,

  supertypes: $ => [$._expression, $._statement, $._type],

  rules: {
    source_file: $ => seq(optional($.version_line), repeat($._part)),

    version_line: _ => token(seq('#version', /[ \t]+/, /[0-9]+(\.[0-9]+)?/)),

    // ---- Parts of a program.

    _part: $ => choice(
      $.import,
      $.constant_definition,
      $.input_definition,
      $.axis_definition,
      $.variable_definition,
      $.field_function_definition,
      $.function_definition,
      $.strand_definition,
      $.global_block,
      $.create_array,
      $.create_collection,
      $.initially,
    ),

    import: $ => seq('import', field('file', $.string), ';'),

    constant_definition: $ => seq('const', $._definition),

    input_definition: $ => seq(
      'input',
      field('type', $._type),
      field('name', $.identifier),
      optional(seq('(', field('description', $.string), ')')),
      optional(seq('=', field('value', $._expression))),
      ';',
    ),

    axis_definition: $ => seq('axis', field('name', $.identifier), '=', field('extent', $._expression), ';'),

    // The same form is a global, a state variable and a local variable.
    variable_definition: $ => $._definition,

    _definition: $ => seq(
      field('type', $._type),
      field('name', $.identifier),
      choice(
        ';',
        seq(optional(field('indices', $.indices)), '=', field('value', $._expression), ';'),
        field('clauses', $.clauses),
      ),
    ),

    field_function_definition: $ => seq(
      field('type', $._type),
      field('name', $.identifier),
      optional(field('indices', $.indices)),
      '(',
      field('parameter', $.identifier),
      optional(seq(',', field('time', $.identifier))),
      ')',
      '=',
      field('value', $._expression),
      ';',
    ),

    function_definition: $ => seq(
      'function',
      field('type', $._type),
      field('name', $.identifier),
      field('parameters', $.parameters),
      choice(seq('=', field('value', $._expression), ';'), seq(field('body', $.block), optional(';'))),
    ),

    parameters: $ => seq('(', any($.parameter), ')'),
    parameter: $ => seq(field('type', $._type), field('name', $.identifier)),

    strand_definition: $ => seq(
      'strand',
      field('name', $.identifier),
      field('parameters', $.parameters),
      field('body', $.strand_body),
      optional(';'),
    ),

    strand_body: $ => seq('{', repeat(choice($.output_definition, $.variable_definition, $.method)), '}'),

    output_definition: $ => seq('output', $._definition),

    method: $ => seq(
      field('name', choice('initialize', 'start', 'update', 'stabilize')),
      field('body', $.block),
      optional(';'),
    ),

    global_block: $ => seq(
      field('name', choice('initialize', 'start', 'update', 'global')),
      field('body', $.block),
      optional(';'),
    ),

    create_array: $ => seq('create_array', '{', $._creation, '}', optional(';')),
    create_collection: $ => seq('create_collection', '{', $._creation, '}', optional(';')),
    initially: $ => seq('initially', choice(seq('[', $._creation, ']'), seq('{', $._creation, '}')), ';'),

    _creation: $ => seq(field('strand', $._expression), '|', some($.iterator)),

    iterator: $ => seq(field('name', $.identifier), 'in', field('source', $._expression)),

    // ---- Definitions by index.

    indices: $ => seq('[', some(choice($.index_binding, $._expression)), ']'),

    index_binding: $ => prec(LEVEL.product + 1, seq(
      field('name', $.identifier),
      optional(choice(seq(':', field('extent', $._expression)), seq('in', field('range', $._expression)))),
    )),

    clauses: $ => seq('{', repeat1($.clause), '}'),

    clause: $ => seq(
      field('name', $.identifier),
      field('indices', $.indices),
      choice(seq('=', field('value', $._expression), ';'), field('body', $.block)),
    ),

    // ---- Types.

    _type: $ => choice(
      $.primitive_type,
      $.tensor_type,
      $.named_type,
      $.sequence_type,
      $.image_type,
      $.field_type,
      $.kernel_type,
      $.mesh_type,
    ),

    _element_type: $ => choice($.primitive_type, $.tensor_type, $.named_type, $.sequence_type),

    primitive_type: _ => choice(
      'bool', 'int', 'string', 'real',
      'vec2', 'vec3', 'vec4',
      'mat2', 'mat3', 'mat4',
    ),

    tensor_type: $ => seq('tensor', field('shape', $.shape)),

    named_type: $ => $.identifier,

    sequence_type: $ => seq(
      field('element', $._element_type),
      choice(seq('[', any(field('length', $._expression)), ']'), seq('{', optional(field('length', $._expression)), '}')),
    ),

    image_type: $ => seq('image', $._dimension, field('shape', $.shape)),
    field_type: $ => seq('field', optional($.continuity), $._dimension, field('shape', $.shape)),
    kernel_type: $ => seq('kernel', $.continuity),
    mesh_type: $ => seq(choice('fem', 'mesh'), optional($.continuity), $._dimension, optional(field('shape', $.shape))),

    // The word after the dimension is `time`.
    _dimension: $ => seq('(', field('dimension', $._expression), optional(seq(',', field('time', $.identifier), optional($.continuity))), ')'),
    shape: $ => seq('[', any($._expression), ']'),
    continuity: $ => seq('#', $.integer),

    // ---- Statements.

    block: $ => seq('{', repeat($._statement), '}'),

    _statement: $ => choice(
      $.block,
      $.variable_definition,
      $.assignment,
      $.if_statement,
      $.foreach_statement,
      $.print_statement,
      $.new_statement,
      $.stabilize_statement,
      $.die_statement,
      $.continue_statement,
      $.return_statement,
    ),

    assignment: $ => seq(
      field('name', choice($.identifier, alias($._type_word, $.identifier))),
      field('operator', choice('=', '+=', '-=', '*=', '/=', '%=', '@=')),
      field('value', $._expression),
      ';',
    ),

    // Words that begin types, but are also names: the matrices in version 1.0, the others everywhere.
    _type_word: _ => choice('mat2', 'mat3', 'mat4', 'fem', 'mesh'),

    if_statement: $ => prec.right(seq(
      'if',
      '(',
      field('condition', $._expression),
      ')',
      field('consequence', $._statement),
      optional(seq('else', field('alternative', $._statement))),
    )),

    foreach_statement: $ => seq(
      'foreach',
      '(',
      field('type', $._type),
      $.iterator,
      ')',
      field('body', $._statement),
    ),

    print_statement: $ => seq('print', field('arguments', $.arguments), ';'),
    new_statement: $ => seq('new', field('strand', $.identifier), field('arguments', $.arguments), ';'),
    stabilize_statement: _ => seq('stabilize', ';'),
    die_statement: _ => seq('die', ';'),
    continue_statement: _ => seq('continue', ';'),
    return_statement: $ => seq('return', field('value', $._expression), ';'),

    // ---- Expressions.

    _expression: $ => choice(
      $.conditional,
      $.range,
      $.binary,
      $.unary,
      $.derivative,
      $.partial_derivative,
      $.differential,
      $.call,
      $.subscript,
      $.element,
      $.reduction,
      $.selection,
      $.kernel_as,
      $.identifier,
      $.index_symbol,
      $.integer,
      $.real,
      $.constant,
      $.string,
      $.boolean,
      $.nan,
      $.norm,
      $.tensor,
      $.sequence,
      $.comprehension,
      $.parenthesized,
      $.cast,
      $.identity,
      $.zeros,
      $.image_expression,
    ),

    conditional: $ => prec.right(LEVEL.conditional, seq(
      field('consequence', $._expression),
      'if',
      field('condition', $._expression),
      'else',
      field('alternative', $._expression),
    )),

    range: $ => prec.left(LEVEL.range, seq(field('low', $._expression), '..', field('high', $._expression))),

    binary: $ => choice(
      ...[
        ['or', OR, prec.right],
        ['and', AND, prec.right],
        ['comparison', COMPARISON, prec.left],
        ['sum', SUM, prec.left],
        ['product', PRODUCT, prec.left],
        ['composition', COMPOSITION, prec.left],
        ['power', POWER, prec.right],
      ].map(([level, operators, associate]) => associate(LEVEL[level], seq(
        field('left', $._expression),
        field('operator', oneOf(operators)),
        field('right', $._expression),
      ))),
    ),

    unary: $ => prec.right(LEVEL.unary, seq(
      field('operator', oneOf(UNARY)),
      field('operand', $._expression),
    )),

    derivative: $ => prec.right(LEVEL.derivative, seq(
      field('operator', oneOf(DERIVATIVE)),
      field('operand', $._expression),
    )),

    partial_derivative: $ => prec.right(LEVEL.derivative, seq(
      field('operator', $._partial),
      '[',
      some(field('index', $._expression)),
      ']',
      field('operand', $._expression),
    )),

    // One side of a request such as `∂y/∂x`.
    differential: $ => prec(LEVEL.derivative, seq(
      field('operator', $._partial),
      choice(field('variable', $.identifier), seq('(', field('value', $._expression), ')')),
    )),

    _partial: _ => oneOf(PARTIAL),

    call: $ => prec(LEVEL.suffix, seq(field('function', $._expression), field('arguments', $.arguments))),
    arguments: $ => seq('(', any($._expression), ')'),

    subscript: $ => prec(LEVEL.suffix, seq(field('base', $._expression), field('subscripts', $.subscripts))),
    subscripts: $ => seq('[', some(choice($.whole_axis, $.index_range, $._expression)), ']'),
    whole_axis: _ => ':',
    index_range: $ => seq(field('name', $._expression), 'in', field('range', $._expression)),

    // An element of a sequence in version 1.0.
    element: $ => prec(LEVEL.suffix, seq(field('base', $._expression), '{', field('index', $._expression), '}')),

    reduction: $ => prec(LEVEL.suffix, seq(field('function', $._expression), $._comprehended)),

    comprehension: $ => $._comprehended,
    _comprehended: $ => seq('{', field('body', $._expression), '|', $.iterator, '}'),

    selection: $ => prec(LEVEL.suffix, seq(field('base', $._expression), '.', field('member', $.identifier))),

    kernel_as: $ => prec(LEVEL.derivative, seq(field('kernel', $.identifier), $.continuity)),

    norm: $ => seq('|', $._expression, '|'),
    tensor: $ => seq('[', some($._expression), ']'),
    sequence: $ => seq('{', any($._expression), '}'),
    parenthesized: $ => seq('(', $._expression, ')'),

    cast: $ => seq('real', '(', $._expression, ')'),
    identity: $ => seq('identity', '[', $._expression, ']'),
    zeros: $ => seq('zeros', $.shape),
    nan: $ => prec.right(LEVEL.derivative, seq('nan', optional($.shape))),
    image_expression: $ => seq('image', '(', $._expression, ')'),

    // ---- Tokens.

    identifier: _ => new RustRegex(`(?:${nameStart})(?:${namePart})*`),

    index_symbol: _ => oneOf(INDEX_SYMBOLS),

    integer: _ => /[0-9]+/,
    real: _ => /[0-9]+\.[0-9]+([eE][+-]?[0-9]+)?/,
    constant: _ => oneOf(CONSTANTS),
    boolean: _ => choice('true', 'false'),

    string: $ => seq('"', repeat(choice(token.immediate(prec(1, /[^"\\\r\n]+/)), $.escape)), '"'),
    escape: _ => token.immediate(/\\([abfnrtv\\"]|[0-9]{3})/),

    line_comment: _ => token(seq('//', /[^\n]*/)),
    block_comment: _ => token(seq('/*', /[^*]*\*+([^/*][^*]*\*+)*/, '/')),
  },
});
