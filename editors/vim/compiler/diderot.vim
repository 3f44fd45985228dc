" :make checks the program, and :copen lists what is wrong.
if exists('current_compiler')
  finish
endif
let current_compiler = 'diderot'

CompilerSet makeprg=diderotc\ check\ %:S
CompilerSet errorformat=%E[%.%#]\ Error:\ %m,%W[%.%#]\ Warning:\ %m,%Z%.%#─[\ %f:%l:%v\ ],%-G%.%#
