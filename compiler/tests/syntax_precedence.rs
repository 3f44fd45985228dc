//! How expressions are grouped: each must give the same tree as the same expression with all its parentheses.

mod trees;

use compiler::front::syntax::operators::{self, Level, Position};
use trees::{expression, messages_of_expression};

#[track_caller]
fn grouped(expr: &str, parenthesized: &str) {
    assert_eq!(expression(expr), expression(parenthesized), "{expr}");
}

#[track_caller]
fn differs(expr: &str, parenthesized: &str) {
    assert_ne!(expression(expr), expression(parenthesized), "{expr}");
}

#[test]
fn derivatives_bind_tighter_than_probes() {
    grouped("∇F(x)", "(∇F)(x)");
    differs("∇F(x)", "∇(F(x))");
    grouped("∇⊗∇F(x)", "(∇⊗(∇F))(x)");
    grouped("∇×V(x)/m", "((∇×V)(x))/m");
    grouped("∇(F)(x)", "∇F(x)");
    grouped("∇|V|/|(∇|V|)|", "(∇(|V|)) / (|(∇(|V|))|)");
    grouped("∇•V[0]", "(∇•V)[0]");
    grouped("-∇F(x)^2", "-(((∇F)(x))^2)");
}

#[test]
fn unary_minus_binds_looser_than_power() {
    grouped("-x^2", "-(x^2)");
    differs("-x^2", "(-x)^2");
    grouped("2^3^2", "2^(3^2)");
    grouped("!a && b", "(!a) && b");
    grouped("a^b(c)^d[0]", "a^((b(c))^(d[0]))");
    assert_eq!(
        messages_of_expression("x^-1"),
        ["expected an expression, found `-`"]
    );
}

#[test]
fn products_share_one_level_and_group_from_the_left() {
    grouped("-a • b/c", "((-a) • b)/c");
    grouped("n ⊗ n • f", "(n⊗n)•f");
    grouped("1 / r * x / |x|", "((1/r)*x)/|x|");
    grouped("a : b : c", "(a : b) : c");
    grouped("a * b % c × d ⊛ e", "(((a * b) % c) × d) ⊛ e");
    grouped("k ⊛ img - c", "(k ⊛ img) - c");
    grouped("F ∘ G * H ∘ I", "(F ∘ G) * (H ∘ I)");
    grouped("-F ∘ G", "(-F) ∘ G");
    grouped("F ∘ -G", "F ∘ (-G)");
}

#[test]
fn sums_comparisons_and_logic_are_looser_and_looser() {
    grouped("a - b - c", "(a - b) - c");
    grouped("a @ b + c", "(a @ b) + c");
    grouped("a + b < c * d", "(a + b) < (c * d)");
    grouped("a < b == c", "(a < b) == c");
    grouped("a && b && c", "a && (b && c)");
    grouped("a || b || c", "a || (b || c)");
    grouped("a || b && c < d", "a || (b && (c < d))");
    grouped("0..n-1", "0..(n-1)");
    grouped("a..b || c", "a..(b || c)");
    assert_eq!(messages_of_expression("a..b..c").len(), 1);
}

#[test]
fn conditionals_are_loosest_and_chain_to_the_right() {
    grouped("x if p else y if q else z", "x if p else (y if q else z)");
    grouped("a + b if c else d + e", "(a + b) if c else (d + e)");
    grouped("a if b if c else d else e", "a if (b if c else d) else e");
    grouped("0..n if c else s", "(0..n) if c else s");
}

#[test]
fn bars_that_cannot_begin_an_operand_end_a_norm_or_a_body() {
    grouped("|a if c else b|", "|(a if c else b)|");
    grouped("{ |q.v|/r | q in s }", "{ ((|q.v|)/r) | q in s }");
    grouped("sum { |a| | x in s }", "sum { (|a|) | x in s }");
    grouped("a || |b| > 1", "a || ((|b|) > 1)");
    grouped("| |a| - |b| |", "|((|a|) - (|b|))|");
    grouped("|a|(x)", "(|a|)(x)");
    grouped("cond && |p| > 1", "cond && ((|p|) > 1)");
}

#[test]
fn brackets_after_nan_are_its_shape() {
    differs("nan[2]", "(nan)[2]");
    grouped("nan[2][0]", "(nan[2])[0]");
    grouped("nan[]", "nan");
    grouped("identity[3][0,:]", "(identity[3])[0,:]");
    grouped("zeros[2,2][0,0]", "(zeros[2,2])[0,0]");
    grouped("real(i)^2", "(real(i))^2");
}

#[test]
fn every_operator_of_the_table_is_read_as_the_table_says() {
    let by_level = |level: Level| {
        operators::spellings()
            .filter(move |s| s.position == Position::Infix && s.level == level)
            .map(|s| s.written)
    };
    let mut count = 0;
    for spelling in operators::spellings() {
        let written = spelling.written;
        match spelling.position {
            Position::Infix => {
                let symbol = format!("a {} b", spelling.symbol);
                grouped(&format!("a {written} b"), &symbol);
                if spelling.level != Level::Range {
                    let (first, second) = match spelling.level.associativity() {
                        operators::Associativity::Right => ("a", format!("(b {written} c)")),
                        _ => ("(a", format!("b) {written} c")),
                    };
                    let flat = format!("a {written} b {written} c");
                    grouped(&flat, &format!("{first} {written} {second}"));
                }
                for tighter in [Level::Product, Level::Composition, Level::Power] {
                    for other in by_level(tighter).filter(|_| spelling.level < tighter) {
                        let flat = format!("a {other} b {written} c {other} d");
                        grouped(&flat, &format!("(a {other} b) {written} (c {other} d)"));
                    }
                }
            }
            Position::Prefix => {
                grouped(&format!("{written} a"), &format!("{} a", spelling.symbol));
            }
            Position::Constant => grouped(written, spelling.symbol),
        }
        count += 1;
    }
    assert!(count >= 35, "only {count} spellings");
}

#[test]
fn greek_letters_may_be_spelled_out_in_names() {
    grouped("\\alpha", "α");
    grouped("\\alpha_1' + x\\beta\\gamma2", "α_1' + xβγ2");
    grouped("\\pi*\\pi_0", "π*π_0");
    grouped("\\inf", "∞");
    grouped("inf", "∞");
    differs("π", "πx");
    for (letter, word) in operators::GREEK {
        grouped(&format!("x{letter}"), &format!("x\\{word}"));
    }
    assert_eq!(
        messages_of_expression("\\alphax"),
        ["unknown symbol `\\alphax`"]
    );
}
