" Diderot: comments, words, checking, and symbols by their names.
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1

setlocal comments=s:/*,mb:*,ex:*/,://
setlocal commentstring=//\ %s
setlocal expandtab shiftwidth=4 softtabstop=4
setlocal suffixesadd=.diderot
" Names have primes, and an abbreviation such as \otimes is one word.
setlocal iskeyword+=39,92
setlocal matchpairs=(:),{:},[:]
compiler diderot

" :View OPTIONS shows the program in a browser; the small window has its process, which ends with it.
if has('nvim')
  command! -buffer -nargs=* -complete=file View botright 4split | terminal diderotc view %:S <args>
elseif has('terminal')
  command! -buffer -nargs=* -complete=file View botright terminal ++rows=4 diderotc view %:S <args>
endif

" Two symbols that Vim has no digraph for; the others are in the book.
digraphs Ox 8855 O* 8859

" A name and a blank, or Ctrl-], give the symbol. `let g:diderot_abbreviations = 0` turns it off.
if get(g:, 'diderot_abbreviations', 1)
  " tables: written by the test `editors` with UPDATE_DOCS=1
  inoreabbrev <buffer> \alpha α
  inoreabbrev <buffer> \beta β
  inoreabbrev <buffer> \bullet •
  inoreabbrev <buffer> \cdot •
  inoreabbrev <buffer> \circ ∘
  inoreabbrev <buffer> \circledast ⊛
  inoreabbrev <buffer> \compose ∘
  inoreabbrev <buffer> \conv ⊛
  inoreabbrev <buffer> \cross ×
  inoreabbrev <buffer> \curl ∇×
  inoreabbrev <buffer> \delta δ
  inoreabbrev <buffer> \div ∇•
  inoreabbrev <buffer> \dot •
  inoreabbrev <buffer> \epsilon ε
  inoreabbrev <buffer> \eta η
  inoreabbrev <buffer> \gamma γ
  inoreabbrev <buffer> \grad ∇
  inoreabbrev <buffer> \inf ∞
  inoreabbrev <buffer> \infty ∞
  inoreabbrev <buffer> \jacobian ∇⊗
  inoreabbrev <buffer> \lambda λ
  inoreabbrev <buffer> \laplacian ∇²
  inoreabbrev <buffer> \mu μ
  inoreabbrev <buffer> \nabla ∇
  inoreabbrev <buffer> \omega ω
  inoreabbrev <buffer> \otimes ⊗
  inoreabbrev <buffer> \partial ∂
  inoreabbrev <buffer> \phi φ
  inoreabbrev <buffer> \pi π
  inoreabbrev <buffer> \psi ψ
  inoreabbrev <buffer> \rho ρ
  inoreabbrev <buffer> \sigma σ
  inoreabbrev <buffer> \tau τ
  inoreabbrev <buffer> \theta θ
  inoreabbrev <buffer> \times ×
  inoreabbrev <buffer> \xi ξ
  inoreabbrev <buffer> \zeta ζ
  " end of tables
endif

let b:undo_ftplugin = 'setlocal comments< commentstring< expandtab< shiftwidth< softtabstop< suffixesadd< iskeyword< matchpairs<'
      \ . ' makeprg< errorformat< | iabclear <buffer>'
