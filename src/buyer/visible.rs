//! Recognises characters that readers cannot see, and lines of text that are safe to show.

/// Whether a character is invisible: Unicode's `White_Space` and `Default_Ignorable_Code_Point`, the annotation marks, and the
/// blank Braille pattern. All characters that change the direction of text are among them.
pub fn is_invisible(character: char) -> bool {
    character.is_whitespace()
        || matches!(
            character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Whether an invisible character joins or changes its neighbours, as in Persian and in emoji.
pub fn is_joiner(character: char) -> bool {
    matches!(character, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Returns U+FFFD in place of a character that could disguise what a text says: a control character, or one that
/// changes the direction of text. Returns any other character unchanged.
pub fn shown(character: char) -> char {
    let turns = matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if character.is_control() || turns { '\u{fffd}' } else { character }
}

/// Whether a text is one line with at least one visible character, and readers see all of it.
/// Blanks are allowed. After a character that is not ASCII, [joiners](is_joiner) and direction
/// marks are allowed, as in Persian and Arabic. Control characters and all other invisible
/// characters, such as those that turn the direction of text, are not allowed: a text with them
/// could look like another text.
pub fn is_visible_line(line: &str) -> bool {
    let is_break = |it: char| it.is_control() || matches!(it, '\u{2028}' | '\u{2029}');
    let is_mark = |it: char| matches!(it, '\u{61c}' | '\u{200e}' | '\u{200f}');
    let befores = std::iter::once(' ').chain(line.chars());
    let is_shown = |(before, it): (char, char)| match it {
        _ if is_break(it) => false,
        _ if is_joiner(it) || is_mark(it) => !before.is_ascii(),
        _ => it.is_whitespace() || !is_invisible(it),
    };
    !line.chars().all(is_invisible) && befores.zip(line.chars()).all(is_shown)
}

/// Whether a text is a [visible line](is_visible_line) of at most `most` bytes.
pub fn is_line(text: &str, most: usize) -> bool {
    text.len() <= most && is_visible_line(text)
}
