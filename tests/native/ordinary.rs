//! Proves that the expressions for ordinary texts match only valid texts, and that they take linear time.

use std::sync::LazyLock;

use impact_pledge::pledges::schema::Format;
use impact_pledge::pledges::validate::format::{ORDINARY, is_date_time, is_email, is_uri};
use proptest::prelude::*;
use regex_lite::Regex;
use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{Ast, Repetition, RepetitionKind, RepetitionRange};

type Check = fn(&[u8]) -> bool;

static EXPRESSIONS: LazyLock<Vec<(Check, Regex)>> = LazyLock::new(|| {
    let check = |format| match format {
        Format::Email => is_email,
        Format::Uri => is_uri,
        Format::DateTime => is_date_time,
        Format::Any => panic!("any text has it"),
    };
    let expressions = ORDINARY.iter();
    expressions.map(|(format, text)| (check(*format) as Check, Regex::new(text).unwrap())).collect()
});

/// Returns whether a text is ordinary, that is, whether the simple expression of some format matches it.
/// Asserts that the format's full check accepts the text as well.
#[track_caller]
pub fn is_ordinary(text: &str) -> bool {
    EXPRESSIONS.iter().any(|expression| matches(expression, text))
}

#[track_caller]
fn matches((is_valid, expression): &(Check, Regex), text: &str) -> bool {
    let is_ordinary = expression.is_match(text);
    assert!(!is_ordinary || is_valid(text.as_bytes()), "`{text}` matches {expression}");
    is_ordinary
}

// ---- Only valid texts --------------------------------------------------------------------------

#[test]
fn usual_texts_are_ordinary() {
    for text in [
        "ada@shop.example",
        "Ada.M_Love-Lace+o'rders@mail-12.shop.co.uk",
        "https://shop.example",
        "http://127.0.0.1:8787/orders?id=1&to=a@b",
        "https://cdn.shop-1.example/a/b_c~d/e.webp?v=1,2;(3)!$'*+:@",
        "https://shop.example/products/b%C3%A4ume?variant=41#reviews",
        "https://shop.example?utm_source=mail&utm_campaign=spring%2csale%20%2B",
        "https://shop.example:8443#/orders/1815?tab=caf%C3%A9",
        "2024-05-17T09:30:00Z",
        "2024-05-17T11:30:00+02:00",
        "1999-12-31T23:59:59.999-12:30",
    ] {
        assert!(is_ordinary(text), "`{text}`");
    }
}

/// Tries all short texts that can be built from a few parts: one character of each class, and some longer
/// parts. One character is enough, because all characters of a class are treated alike. Other tests try days
/// and times.
#[test]
fn every_short_text_that_is_ordinary_has_its_format() {
    let [email, uri, date_time] = &EXPRESSIONS[..] else { panic!("three formats") };
    for (expression, start, parts) in [
        (email, "", &["a", "_", "+", "-", ".", "@", "!"][..]),
        (email, "a.b@c.d-e", &["a", "_", "+", "-", ".", "@", "!"]),
        (uri, "https://", &["a", "7", ":", "/", "?", "!", "@", "%", "#"]),
        (uri, "", &["http", "s", ":", "/", "//", "a", "7"]),
        (uri, "https://a/", &["a", "7", "G", "_", "%", "#", "?", "["]),
        (uri, "https://a", &["/", "#", "!", "%", "%7", "%aF", "%7g"]),
        (date_time, "2024-05-17T09:30:00", &[".", "0", "Z", "+", "-", ":", "23", "24"]),
    ] {
        let mut texts = vec![start.to_owned()];
        let mut ordinary = 0;
        for _ in 0..5 {
            let all = texts.iter().flat_map(|text| parts.iter().map(move |part| (text, part)));
            texts = all.map(|(text, part)| format!("{text}{part}")).collect();
            ordinary += texts.iter().filter(|text| matches(expression, text)).count();
        }
        assert!(ordinary > 20, "{ordinary} texts behind `{start}`");
    }
}

/// Generates texts that an expression matches.
fn ordinary_text() -> impl Strategy<Value = (usize, String)> {
    let strategies = ORDINARY.iter().enumerate().map(|(index, (_, expression))| {
        // The generator knows no anchors, and takes `\w` and `\d` for those of Unicode.
        let ascii = expression.trim_matches(['^', '$']).replace(r"[\w", "[_A-Za-z0-9");
        let ascii = ascii.replace(r"\d]", "0-9]").replace(r"\d", "[0-9]");
        let texts = proptest::string::string_regex(&ascii).unwrap();
        texts.prop_map(move |text| (index, text)).boxed()
    });
    proptest::strategy::Union::new(strategies)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_generated_text_that_an_expression_matches_has_its_format((index, text) in ordinary_text()) {
        prop_assert!(matches(&EXPRESSIONS[index], &text), "`{}`", text);
    }
}

// ---- Linear time -------------------------------------------------------------------------------

/// A set of ASCII characters, a bit for each.
type Set = u128;

/// Returns whether a backtracking engine takes linear time for an expression: the next character decides
/// whether a repetition goes on, because what follows the repetition begins with other characters. So after
/// a mismatch, the engine finds at each earlier character that there is no other way.
///
/// `following` has the characters with which the text after `ast` may begin. `is_repeated` tells whether
/// `ast` is part of a repetition. There, and if they contain repetitions, alternatives must begin with
/// different characters. Other alternatives, such as months, are short, so that trying all takes constant time.
fn is_linear(pattern: &str, ast: &Ast, following: Set, is_repeated: bool) -> bool {
    match ast {
        Ast::Group(group) => is_linear(pattern, &group.ast, following, is_repeated),
        Ast::Concat(concat) => (0..concat.asts.len()).all(|index| {
            let (first, may_be_empty) = first_of_all(pattern, &concat.asts[index + 1..]);
            let following = first | if may_be_empty { following } else { 0 };
            is_linear(pattern, &concat.asts[index], following, is_repeated)
        }),
        Ast::Alternation(alternation) => {
            let asts = &alternation.asts;
            let is_short = !is_repeated && !asts.iter().any(has_repetition);
            (is_short || begin_apart(pattern, asts, following))
                && asts.iter().all(|ast| is_linear(pattern, ast, following, is_repeated))
        }
        Ast::Repetition(repetition) if is_exact(repetition) => {
            let following = first_of(pattern, &repetition.ast).0 | following;
            is_linear(pattern, &repetition.ast, following, is_repeated)
        }
        Ast::Repetition(repetition) => {
            let (first, may_be_empty) = first_of(pattern, &repetition.ast);
            !may_be_empty
                && first & following == 0
                && is_linear(pattern, &repetition.ast, first | following, true)
        }
        _ => true,
    }
}

/// Returns whether all alternatives begin with different characters. An alternative that may be empty begins
/// with what follows.
fn begin_apart(pattern: &str, alternatives: &[Ast], following: Set) -> bool {
    let mut seen = 0;
    alternatives.iter().all(|ast| {
        let (first, may_be_empty) = first_of(pattern, ast);
        let first = first | if may_be_empty { following } else { 0 };
        let is_new = seen & first == 0;
        seen |= first;
        is_new
    })
}

/// Returns the characters with which a match may begin, and whether the match may be empty.
fn first_of(pattern: &str, ast: &Ast) -> (Set, bool) {
    match ast {
        Ast::Empty(_) | Ast::Assertion(_) => (0, true),
        Ast::Group(group) => first_of(pattern, &group.ast),
        Ast::Concat(concat) => first_of_all(pattern, &concat.asts),
        Ast::Alternation(alternation) => {
            let firsts = alternation.asts.iter().map(|ast| first_of(pattern, ast));
            firsts.fold((0, false), |all, one| (all.0 | one.0, all.1 | one.1))
        }
        Ast::Repetition(repetition) => {
            let (first, may_be_empty) = first_of(pattern, &repetition.ast);
            match repetition.op.kind {
                RepetitionKind::ZeroOrOne | RepetitionKind::ZeroOrMore => (first, true),
                RepetitionKind::OneOrMore => (first, may_be_empty),
                RepetitionKind::Range(_) if is_exact(repetition) => (first, may_be_empty),
                RepetitionKind::Range(_) => panic!("{pattern} has a range"),
            }
        }
        _ => (characters(&pattern[ast.span().start.offset..ast.span().end.offset]), false),
    }
}

fn first_of_all(pattern: &str, asts: &[Ast]) -> (Set, bool) {
    asts.iter()
        .map(|ast| first_of(pattern, ast))
        .fold((0, true), |all, one| if all.1 { (all.0 | one.0, one.1) } else { all })
}

/// Returns the characters that a literal or a class matches.
fn characters(class: &str) -> Set {
    let expression = Regex::new(&format!("^{class}$")).unwrap();
    let is_one = |byte: &u8| expression.is_match(&char::from(*byte).to_string());
    (0..128_u8).filter(is_one).fold(0, |set, byte| set | 1 << byte)
}

/// Returns whether the count of a repetition is fixed, so that it is no choice.
fn is_exact(repetition: &Repetition) -> bool {
    matches!(repetition.op.kind, RepetitionKind::Range(RepetitionRange::Exactly(1..)))
}

fn has_repetition(ast: &Ast) -> bool {
    match ast {
        Ast::Group(group) => has_repetition(&group.ast),
        Ast::Concat(concat) => concat.asts.iter().any(has_repetition),
        Ast::Alternation(alternation) => alternation.asts.iter().any(has_repetition),
        Ast::Repetition(_) => true,
        _ => false,
    }
}

fn takes_linear_time(pattern: &str) -> bool {
    is_linear(pattern, &Parser::new().parse(pattern).unwrap(), 0, false)
}

#[test]
fn expressions_are_anchored_lines_of_ascii_and_take_linear_time() {
    for (_, expression) in ORDINARY {
        assert!(expression.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{expression}");
        assert!(expression.starts_with('^') && expression.ends_with('$'), "{expression}");
        assert!(takes_linear_time(expression), "{expression}");
    }
}

#[test]
fn expressions_with_a_choice_in_a_repetition_do_not_take_linear_time() {
    for expression in
        ["^a*(?:%b[ab]*)*$", "^(?:a|%b)*$", "^(?:ab|ac)d?$", "^a+(?:\\.a+|)$", "^(?:%a{2}b*)*$"]
    {
        assert!(takes_linear_time(expression), "{expression}");
    }
    for expression in [
        "^a*a*$",
        "^(?:a*)*$",
        "^(?:a+)+$",
        "^(?:a|a)*$",
        "^(?:ab|ac)*$",
        "^(?:a|[a-c]d)*$",
        "^[%a]*(?:%b[%a]*)*$",
        "^a+(?:\\.a+|)a$",
        "^(?:\\.*|)[.]$",
        "^(?:(?:%|)a*)*$",
        "^a?a*$",
        "^(?:a*b*){2}$",
    ] {
        assert!(!takes_linear_time(expression), "{expression}");
    }
}
