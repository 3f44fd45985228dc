;;; diderot-mode.el --- Editing programs of Diderot  -*- lexical-binding: t; -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "26.1"))
;; Keywords: languages

;;; Commentary:

;; Colours, indentation and an input method for Diderot, the language for scientific visualization and image analysis.
;; `\otimes' gives ⊗, and so on; `C-\' turns the input method off and on.  `M-x compile' checks the program.

;;; Code:

(require 'compile)
(require 'quail)

(defgroup diderot nil "Editing programs of Diderot." :group 'languages)

(defcustom diderot-indent-offset 4 "Columns for each level of brackets." :type 'integer :safe #'integerp)

(defcustom diderot-use-input-method t "Whether names such as \\otimes become symbols." :type 'boolean)

;; tables: written by the test `editors` with UPDATE_DOCS=1
(defconst diderot-functions
 '(
   "GetCell" "KRNS" "MAX" "MIN" "SUM" "abs" "acos" "all" "argmax" "argmin" "asin" "atan" "atan2" "blur" "border" "bounds"
   "bounds2" "bounds3" "ceil" "clamp" "clerp" "compose" "concat" "cos" "cross" "curl" "det" "div" "dot" "endTime" "erf" "erfc"
   "evals" "evecs" "exists" "exp" "floor" "fmod" "frames" "grad" "identity" "inside" "insideF" "inv" "jacobian" "laplacian"
   "length" "lerp" "load" "load_fem" "load_image" "load_mesh" "load_sequence" "log" "log10" "log2" "max" "mean" "min" "mirror"
   "modulate" "norm" "normalize" "numActive" "numStable" "numStrands" "outer" "pow" "printIR" "product" "range" "round" "sin"
   "size" "spacing" "spacing2" "spacing3" "sphere" "sqrt" "startTime" "sum" "swap" "tan" "toField" "trace" "transpose" "trunc"
   "variance" "wrap" "zeros"
   ) "The functions of Diderot.")
(defconst diderot-kernels
 '(
   "tent" "ctmr" "bspln3" "bspln5" "c4hexic" "c1tent" "c2tent" "c2ctmr"
   ) "The kernels of Diderot.")
(defconst diderot-keywords
 '(
   "const" "function" "input" "output" "strand" "create_array" "create_collection" "global" "initialize" "initially" "start"
   "update" "continue" "die" "else" "foreach" "if" "in" "new" "print" "return" "stabilize"
   ) "The keywords of Diderot.")
(defconst diderot-literals
 '(
   "false" "nan" "true"
   ) "The literals of Diderot.")
(defconst diderot-types
 '(
   "bool" "field" "image" "int" "kernel" "mat2" "mat3" "mat4" "real" "string" "tensor" "vec2" "vec3" "vec4"
   ) "The types of Diderot.")
(defconst diderot-symbols
 '(
   ("\\alpha" . "α") ("\\beta" . "β") ("\\bullet" . "•") ("\\cdot" . "•") ("\\circ" . "∘") ("\\circledast" . "⊛")
   ("\\compose" . "∘") ("\\conv" . "⊛") ("\\cross" . "×") ("\\curl" . "∇×") ("\\delta" . "δ") ("\\div" . "∇•") ("\\dot" . "•")
   ("\\epsilon" . "ε") ("\\eta" . "η") ("\\gamma" . "γ") ("\\grad" . "∇") ("\\inf" . "∞") ("\\infty" . "∞") ("\\jacobian" . "∇⊗")
   ("\\lambda" . "λ") ("\\laplacian" . "∇²") ("\\mu" . "μ") ("\\nabla" . "∇") ("\\omega" . "ω") ("\\otimes" . "⊗")
   ("\\partial" . "∂") ("\\phi" . "φ") ("\\pi" . "π") ("\\psi" . "ψ") ("\\rho" . "ρ") ("\\sigma" . "σ") ("\\tau" . "τ")
   ("\\theta" . "θ") ("\\times" . "×") ("\\xi" . "ξ") ("\\zeta" . "ζ")
   ) "Names of symbols, and the symbols.")
;; end of tables

(quail-define-package
 "diderot" "UTF-8" "\\" t "Symbols of Diderot by their names, as in TeX."
 '(("\t" . quail-completion)) t t nil nil nil nil nil nil nil t)
(dolist (symbol diderot-symbols)
  (quail-defrule (car symbol) (cdr symbol)))

(defvar diderot-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?/ ". 124b" table)
    (modify-syntax-entry ?* ". 23" table)
    (modify-syntax-entry ?\n "> b" table)
    (modify-syntax-entry ?' "_" table)
    (modify-syntax-entry ?_ "_" table)
    (dolist (operator (string-to-list "+-%=<>&@^!:|•×⊗⊛∘∇∂⋅²"))
      (modify-syntax-entry operator "." table))
    table)
  "Syntax table of `diderot-mode'.")

(defconst diderot-name "\\(\\(?:\\sw\\|\\s_\\)+\\)" "A name, as a regular expression with a group.")

(defvar diderot-font-lock-keywords
  `(("\\`#version[ \t]+[0-9.]+" . font-lock-preprocessor-face)
    (,(concat "\\_<\\(?:strand\\|new\\)\\s-+" diderot-name) 1 font-lock-type-face)
    (,(concat "\\_<function\\s-+.*?\\s-" diderot-name "\\s-*(\\(?:)\\|[a-z]\\)") 1 font-lock-function-name-face)
    (,(concat "\\_<\\(axis\\)\\s-+" diderot-name "\\s-*=") (1 font-lock-keyword-face) (2 font-lock-type-face))
    ("\\_<\\(import\\)\\_>\\s-*\"" 1 font-lock-keyword-face)
    ("\\_<\\(fem\\|mesh\\)\\s-*\\(?:#\\|([0-9]\\)" 1 font-lock-type-face)
    (,(regexp-opt diderot-keywords 'symbols) . font-lock-keyword-face)
    (,(regexp-opt diderot-types 'symbols) . font-lock-type-face)
    (,(regexp-opt (append diderot-literals diderot-kernels) 'symbols) . font-lock-constant-face)
    (,(concat (regexp-opt diderot-functions 'symbols) "\\s-*[({[]") 1 font-lock-builtin-face))
  "Colours of `diderot-mode'.")

(defun diderot-indent-line ()
  "Indent by open brackets, and once more where a statement goes on."
  (interactive)
  (let* ((beginning (save-excursion (back-to-indentation) (point)))
         (state (save-excursion (syntax-ppss (line-beginning-position))))
         (closers (save-excursion (goto-char beginning) (skip-chars-forward "])}")))
         (depth (max 0 (- (car state) closers)))
         (goes-on (save-excursion
                    (goto-char beginning)
                    (and (not (looking-at "[])}{]\\|//\\|/\\*\\|$"))
                         (zerop closers)
                         (progn (forward-comment (- (point))) (not (bobp)))
                         (not (memq (char-before) '(?\; ?\{ ?\} ?\( ?\[ ?\, ?\|)))
                         (not (save-excursion (beginning-of-line) (looking-at "#version"))))))
         (column (* diderot-indent-offset (+ depth (if goes-on 1 0)))))
    (unless (nth 4 state)
      (if (> (point) beginning)
          (save-excursion (indent-line-to column))
        (indent-line-to column)))))

(add-to-list 'compilation-error-regexp-alist-alist
             '(diderot "─\\[ \\(.+\\):\\([0-9]+\\):\\([0-9]+\\) \\]$" 1 2 3))
(add-to-list 'compilation-error-regexp-alist 'diderot)

;;;###autoload
(define-derived-mode diderot-mode prog-mode "Diderot"
  "Major mode for programs of Diderot."
  (setq-local comment-start "// ")
  (setq-local comment-end "")
  (setq-local comment-start-skip "\\(?://+\\|/\\*+\\)\\s-*")
  (setq-local indent-line-function #'diderot-indent-line)
  (setq-local indent-tabs-mode nil)
  (setq-local electric-indent-chars (append "{})]" electric-indent-chars))
  (setq-local font-lock-defaults '(diderot-font-lock-keywords))
  (when buffer-file-name
    (setq-local compile-command (concat "diderotc check " (shell-quote-argument (file-name-nondirectory buffer-file-name)))))
  (when diderot-use-input-method
    (activate-input-method "diderot")))

;; M-x eglot starts the language server.
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(diderot-mode . ("diderotc" "lsp"))))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.\\(?:diderot\\|ddro\\)\\'" . diderot-mode))

(provide 'diderot-mode)
;;; diderot-mode.el ends here
