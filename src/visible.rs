//! Recognises characters that readers cannot see, and lines of text that are safe to show.

/// Whether a character is invisible: Unicode's `White_Space` and `Default_Ignorable_Code_Point`, the annotation marks, and the
/// blank Braille pattern.
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

/// Whether a text is one line, with at least one visible character and no character that changes the direction of text.
pub fn is_visible_line(line: &str) -> bool {
    let turns = |character| matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks =
        |character: char| character.is_control() || matches!(character, '\u{2028}' | '\u{2029}');
    !line.chars().all(is_invisible)
        && !line.chars().any(|character| turns(character) || breaks(character))
}
