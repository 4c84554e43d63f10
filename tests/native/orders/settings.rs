use super::each_row;
use impact_pledge::pledges::orders::{OrderSettings, json_schema};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    /// The settings, exactly as the file has them, because issues are in the order of their members.
    settings: Option<Box<RawValue>>,
    json: Option<String>,
    /// The paths and messages of the issues.
    issues: Vec<(String, String)>,
}

#[test]
fn all_settings_are_accepted_or_have_their_issues() {
    each_row("settings", |file, _, row: Row| {
        let name = format!("{file}: {}", row.name);
        let text =
            row.settings.map_or_else(|| row.json.unwrap(), |settings| settings.get().to_owned());
        match OrderSettings::parse(&text) {
            Ok(settings) => {
                assert_eq!(row.issues, [], "{name}");
                assert_eq!(OrderSettings::parse(&settings.to_json()).unwrap(), settings, "{name}");
            }
            Err(issues) => {
                let issues: Vec<_> =
                    issues.into_iter().map(|issue| (issue.path, issue.message)).collect();
                assert_eq!(issues, row.issues, "{name}");
            }
        }
    });
}

/// Every member of the settings in the schema has a description, and no object allows other members.
#[test]
fn the_schema_is_complete() {
    fn check(schema: &Value, path: &str) {
        let Some(properties) = schema["properties"].as_object() else { return };
        assert_eq!(schema["additionalProperties"], json!(false), "{path}");
        for (name, property) in properties {
            let path = format!("{path}/{name}");
            assert!(
                property["description"].as_str().is_some_and(|text| text.ends_with('.')),
                "{path}"
            );
            check(property, &path);
            check(&property["items"], &path);
            check(&property["additionalProperties"], &path);
        }
    }
    check(&serde_json::from_str(&json_schema()).unwrap(), "");
}
