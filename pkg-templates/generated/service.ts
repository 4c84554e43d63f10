// generated from src/pledges/api/names.rs and the keys in src/pledges/store: `UPDATE=1 cargo test --test native generated` writes it anew.

/** The maximum size of a request's body, in bytes. */
export const MAX_BODY_BYTES = 1048576;

/** The prefixes of the names of records, by kind. */
export const PREFIXES = {"catalogue":"catalogue:","key":"key:","member":"member:","profile":"profile:","secret":"secret","transaction":"transaction:"};

/** The tags of the languages of timelines and e-mails. */
export const LANGUAGES = ["da","de","en","es","fr","it","ja","nl","pl","pt","pt-BR","sv","zh"];
