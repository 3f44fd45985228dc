autocmd BufNewFile,BufRead *.diderot,*.ddro setfiletype diderot
