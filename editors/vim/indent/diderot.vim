" Blocks are those of C; a definition goes on with one more step.
if exists('b:did_indent')
  finish
endif
let b:did_indent = 1

setlocal cindent cinoptions=L0,(1s,u0,U1,m1,j1,J1
setlocal cinkeys=0{,0},0),0],!^F,o,O
let b:undo_indent = 'setlocal cindent< cinoptions< cinkeys<'
