use serde_json::error::Category;

/// Why a record could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// The store does not answer, or refuses the request. The adapter logs the details.
    Unavailable,
    /// The isolate does not have enough free memory for the record at the moment. The record was not read.
    Busy,
    /// The record or its metadata cannot be read. The text is for the operator's log, and quotes no stored data.
    Damaged(String),
}

impl StoreError {
    /// Makes the error for a record of this kind that could not be decoded.
    ///
    /// Error texts of serde_json can quote stored personal data. The text is kept if it names only members
    /// and values of this crate. Otherwise, only the position of the error is kept.
    pub fn damaged(kind: &str, error: &serde_json::Error) -> Self {
        let text = error.to_string();
        let names_ours =
            ["missing field `", "duplicate field `"].iter().any(|start| text.starts_with(start));
        let unknown = text.strip_prefix("unknown variant `");
        let problem =
            match (error.classify(), unknown.and_then(|it| it.rsplit_once("`, expected "))) {
                (Category::Data, Some((_stored, known))) => {
                    format!("unknown value, expected {known}")
                }
                (Category::Data, None) if names_ours => text,
                (category, _) => {
                    format!("{category:?} error at line {} column {}", error.line(), error.column())
                }
            };
        StoreError::Damaged(format!("the stored {kind} is damaged: {problem}"))
    }
}
