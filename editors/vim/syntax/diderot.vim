" Diderot. Neovim with tree-sitter does not need it.
if exists('b:current_syntax')
  finish
endif

syntax case match
syntax iskeyword @,48-57,_,39,192-255

syntax match diderotNumber "\<[0-9]\+\>"
syntax match diderotFloat "\<[0-9]\+\.[0-9]\+\([eE][+-]\?[0-9]\+\)\?"
syntax match diderotContinuity "#\s*[0-9]\+"
syntax match diderotVersion "\%^#version\s\+[0-9.]\+"
syntax match diderotDefinition "\<import\>\ze\s*\""
syntax match diderotDefinition "\<axis\>\ze\s\+[A-Za-zα-ω][A-Za-z0-9_'α-ω]*\s*="
syntax match diderotType "\<\(fem\|mesh\)\>\ze\s*\(#\|(\s*[0-9]\)"
syntax match diderotMember "\.\@<!\.[A-Za-zα-ω][A-Za-z0-9_'α-ω]*"
syntax match diderotEscape "\\\([abfnrtv\\"]\|[0-9]\{3}\)" contained
syntax region diderotString start=+"+ skip=+\\\\\|\\"+ end=+"\|$+ contains=diderotEscape
syntax match diderotOperator "&&\|||\|\.\.\|[-+*/%]\?="
syntax keyword diderotTodo TODO FIXME XXX contained

" tables: written by the test `editors` with UPDATE_DOCS=1
syntax keyword diderotDefinition const function input output strand
syntax keyword diderotPart create_array create_collection global initialize initially start update
syntax keyword diderotStatement continue die else foreach if in new print return stabilize
syntax keyword diderotType bool field image int kernel mat2 mat3 mat4 real string tensor vec2 vec3 vec4
syntax keyword diderotLiteral false nan true
syntax keyword diderotFunction GetCell KRNS MAX MIN SUM abs acos all argmax argmin asin atan atan2 blur border bounds bounds2 bounds3 ceil clamp clerp compose
syntax keyword diderotFunction concat cos cross curl det div dot endTime erf erfc evals evecs exists exp floor fmod frames grad identity inside insideF inv
syntax keyword diderotFunction jacobian laplacian length lerp load load_fem load_image load_mesh load_sequence log log10 log2 max mean min mirror modulate norm
syntax keyword diderotFunction normalize numActive numStable numStrands outer pow printIR product range round sin size spacing spacing2 spacing3 sphere sqrt
syntax keyword diderotFunction startTime sum swap tan toField trace transpose trunc variance wrap zeros
syntax keyword diderotKernel tent ctmr bspln3 bspln5 c4hexic c1tent c2tent c2ctmr
syntax match diderotOperator "\V\\compose\>\|\\otimes\>\|\\cross\>\|\\conv\>\|\\dot\>\|!=\|<=\|==\|>=\|!\|%\|*\|+\|-\|/\|:\|<\|>\|@\|^\|×\|•\|∘\|⊗\|⊛\|⋅"
syntax match diderotDerivative "\V\\laplacian\>\|\\jacobian\>\|\\partial\>\|\\curl\>\|\\grad\>\|\\div\>\|∇²\|∇×\|∇•\|∇⊗\|∇⋅\|∂\|∇"
syntax match diderotLiteral "\V\\inf\>\|\\pi\>\|\<inf\>\|\<π\>\|∞"
syntax match diderotLiteral "\Vδ\|\\delta\|ε\|\\epsilon"
" end of tables

syntax match diderotComment "//.*$" contains=diderotTodo,@Spell
syntax region diderotComment start="/\*" end="\*/" contains=diderotTodo,@Spell
syntax region diderotFold start="{" end="}" transparent fold
syntax sync fromstart

highlight default link diderotNumber Number
highlight default link diderotFloat Float
highlight default link diderotContinuity StorageClass
highlight default link diderotVersion PreProc
highlight default link diderotDefinition Keyword
highlight default link diderotPart Structure
highlight default link diderotStatement Statement
highlight default link diderotType Type
highlight default link diderotLiteral Constant
highlight default link diderotFunction Function
highlight default link diderotKernel Constant
highlight default link diderotOperator Operator
highlight default link diderotDerivative Operator
highlight default link diderotMember Identifier
highlight default link diderotString String
highlight default link diderotEscape SpecialChar
highlight default link diderotComment Comment
highlight default link diderotTodo Todo

let b:current_syntax = 'diderot'
