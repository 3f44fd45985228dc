-- The language server and the files of editors/vim in Neovim, without a screen:
--
--   nvim --headless -u NONE -l compiler/tests/editors/neovim.lua        (Neovim 0.9 or newer)
--   nvim --headless -u NONE -c 'luafile compiler/tests/editors/neovim.lua'
--
-- DIDEROTC is the command, by default `diderotc`. A line is printed for each check.

local command = vim.env.DIDEROTC or 'diderotc'
local root = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h:h:h:h')
vim.opt.runtimepath:append(root .. '/editors/vim')
vim.cmd('filetype plugin indent on')
vim.cmd('syntax on')

local failures = 0
local function check(name, found, wanted)
  local is_right = vim.deep_equal(found, wanted)
  failures = failures + (is_right and 0 or 1)
  local differs = is_right and '' or (': ' .. vim.inspect(found) .. ' instead of ' .. vim.inspect(wanted))
  io.stdout:write((is_right and 'ok    ' or 'WRONG ') .. name .. differs .. '\n')
end

local folder = vim.fn.tempname()
vim.fn.mkdir(folder, 'p')
local file = folder .. '/slope.diderot'
local wrong = '    output real y = |∇F([i, 0])| + undefinde;'
vim.fn.writefile({
  '#version 2.0',
  'field#1(2)[] F (x) = x•x;',
  '// A strand.',
  'strand s (int i) {',
  wrong,
  '    update { stabilize; }',
  '}',
  'create_array { s(i) | i in 0..9 }',
}, file)
vim.cmd('edit ' .. vim.fn.fnameescape(file))
check('the file has its type', vim.bo.filetype, 'diderot')

-- `vim.lsp.start` is newer than Debian's Neovim.
local settings = { name = 'diderot', cmd = { command, 'lsp' }, root_dir = folder }
if vim.lsp.start then
  vim.lsp.start(settings)
else
  vim.lsp.buf_attach_client(0, vim.lsp.start_client(settings))
end

local function messages()
  vim.wait(10000, function() return #vim.diagnostic.get(0) > 0 end, 50)
  return vim.diagnostic.get(0)
end

-- Columns of Neovim are bytes: the message must be under the word, after a symbol of three bytes.
local shown = messages()
check('one message', #shown, 1)
local first = shown[1] or {}
check('its line', first.lnum, 4)
check('its column after ∇', first.col, wrong:find('undefinde', 1, true) - 1)
check('its end', first.end_col, wrong:find(';', 1, true) - 1)
check('its text', first.message and first.message:find('undefinde', 1, true) ~= nil, true)

local function ask(method, line, column, more)
  vim.api.nvim_win_set_cursor(0, { line, column })
  local encoding = 'utf-16'
  local parameters = vim.tbl_extend('force', vim.lsp.util.make_position_params(0, encoding), more or {})
  local answers = vim.lsp.buf_request_sync(0, method, parameters, 10000) or {}
  for _, answer in pairs(answers) do
    return answer.result
  end
end

local hover = ask('textDocument/hover', 5, wrong:find('F(', 1, true) - 1)
check('a hover on F has its type', hover and vim.inspect(hover.contents):find('field#1%(2%)') ~= nil, true)

-- The completion of a symbol.
local typed = '    output real y = \\nab'
vim.api.nvim_buf_set_lines(0, 4, 5, false, { typed })
local found = ask('textDocument/completion', 5, #typed)
local items = found and (found.items or found) or {}
local has_nabla = false
for _, item in ipairs(items) do
  local text = item.textEdit and item.textEdit.newText or item.insertText or item.label
  has_nabla = has_nabla or text == '∇'
end
check('\\nab is completed to ∇', has_nabla, true)

-- Names of symbols as abbreviations, without a server.
vim.api.nvim_buf_set_lines(0, 4, 5, false, { '' })
vim.api.nvim_win_set_cursor(0, { 5, 0 })
vim.cmd('normal! i    output real y = |')
vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes('A\\nabla<C-]>F([i, 0])|;<Esc>', true, false, true), 'xt', false)
check('\\nabla becomes ∇ while it is typed', vim.api.nvim_get_current_line(), '    output real y = |∇F([i, 0])|;')
vim.wait(10000, function() return #vim.diagnostic.get(0) == 0 end, 50)
check('no message is left', #vim.diagnostic.get(0), 0)

-- A quick fix.
local function update(word)
  vim.api.nvim_buf_set_lines(0, 5, 6, false, { '    update { ' .. word .. '; }' })
end
local function has_messages(count)
  return vim.wait(10000, function() return #vim.diagnostic.get(0) == count end, 50)
end
update('stabilise')
check('a misspelled word has a message', has_messages(1), true)
local context = { diagnostics = vim.lsp.diagnostic.get_line_diagnostics and vim.lsp.diagnostic.get_line_diagnostics(0, 5) or {}, only = nil }
local line = { ['start'] = { line = 5, character = 13 }, ['end'] = { line = 5, character = 23 } }
local actions = ask('textDocument/codeAction', 6, 14, { range = line, context = context })
local titles = vim.tbl_map(function(action) return action.title end, actions or {})
check('its quick fix', vim.tbl_contains(titles, 'write `stabilize`'), true)
update('stabilize')
check('and none when it is right', has_messages(0), true)

-- Formatting.
vim.api.nvim_buf_set_lines(0, 4, 5, false, { '  output   real y=|∇F([i, 0])|;' })
local edits = vim.lsp.buf_request_sync(0, 'textDocument/formatting', vim.lsp.util.make_formatting_params(), 10000) or {}
for id, answer in pairs(edits) do
  local client = vim.lsp.get_client_by_id(id)
  vim.lsp.util.apply_text_edits(answer.result or {}, 0, client and client.offset_encoding or 'utf-16')
end
check('the line is laid out', vim.api.nvim_buf_get_lines(0, 4, 5, false)[1], '    output real y = |∇F([i, 0])|;')

-- `:make` fills the list of places.
vim.api.nvim_buf_set_lines(0, 4, 5, false, { wrong })
vim.cmd('write')
vim.bo.makeprg = vim.bo.makeprg:gsub('diderotc', (command:gsub('%%', '%%%%')), 1)
vim.cmd('silent make!')
local places = vim.tbl_filter(function(item) return item.valid == 1 end, vim.fn.getqflist())
check(':make finds the place', { #places, places[1] and places[1].lnum }, { 1, 5 })

-- `:View` starts the viewer; a command of another name stands for it here.
local bin = folder .. '/bin'
vim.fn.mkdir(bin)
vim.fn.writefile({ '#!/bin/sh', 'echo "$@" > ' .. folder .. '/words', 'sleep 10' }, bin .. '/diderotc')
vim.fn.setfperm(bin .. '/diderotc', 'rwxr-xr-x')
vim.env.PATH = bin .. ':' .. vim.env.PATH
vim.cmd('View -vol data/phantom.nrrd')
vim.wait(10000, function() return vim.fn.filereadable(folder .. '/words') == 1 end, 50)
vim.wait(200)
check(':View starts the viewer', vim.fn.readfile(folder .. '/words')[1], 'view ' .. file .. ' -vol data/phantom.nrrd')

io.stdout:write(failures == 0 and 'all is right\n' or (failures .. ' checks failed\n'))
vim.cmd(failures == 0 and 'qall!' or 'cquit')
