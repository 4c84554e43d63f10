//! Tests the pages of units and teams.

use super::keys::{commands, form_id, shop};
use super::transaction::main_of;
use super::{ACCOUNTS, OPERATOR, SUPPORT, TestDashboard, confirmation, field, filled};
use impact_pledge::buyer::recipient::Language;
use serde_json::{Value, json};
use strum::VariantArray as _;
use support::service::{Answer, NOW_MS};

/// An ID that consists of characters with a special meaning in URLs or in HTML.
const ODD: &str = "a/b?c#d%e<f>&'+:;";
/// [`ODD`], percent-encoded.
const ODD_PATH: &str = "/units/a%2Fb%3Fc%23d%25e%3Cf%3E%26%27%2B:%3B";

const PROFILE: [(&str, &str); 10] = [
    ("name", "Nordwald <b>\"&\u{5d0}"),
    ("logo", "https://nordwald.example/l.svg?a=1&b"),
    ("link", "https://nordwald.example/"),
    ("accent", "#8a4b2a"),
    ("language", "de"),
    ("reply-to", "hello@nordwald.example"),
    ("time-zone", "Europe/Berlin"),
    ("mail", "on"),
    ("messaging-services-MessagingServiceB", "yes"),
    ("mail-text", "Danke <i>\r\nBis bald"),
];

/// Sends the profile form of a page with some fields changed.
fn save(dashboard: &TestDashboard, page: &Answer, changes: &[(&str, &str)]) -> Answer {
    dashboard.send_form(OPERATOR, profile_form(page, changes))
}

fn profile_form(page: &Answer, changes: &[(&str, &str)]) -> (String, Vec<(String, String)>) {
    filled(page, "name=\"mail-text\"", &[&PROFILE[..], changes].concat())
}

/// Opens the preview of the profile form.
fn preview(dashboard: &TestDashboard, page: &Answer, of: &str, changes: &[(&str, &str)]) -> Answer {
    let (path, fields) = profile_form(page, changes);
    let path = path.replace("/profile", &format!("/preview?of={of}"));
    dashboard.send_form(OPERATOR, (path, fields))
}

#[track_caller]
fn has(answer: &Answer, status: u16, words: &str) {
    assert_eq!(answer.status, status, "{}", answer.text);
    assert!(answer.text.contains(words), "`{words}` in {}", answer.text);
    assert!(!answer.text.contains("<script"), "{}", answer.text);
}

fn profile(dashboard: &TestDashboard, unit: &str) -> Value {
    let record = dashboard.store().value(&format!("profile:{unit}"));
    serde_json::from_str(&record.unwrap_or_else(|| "null".to_owned())).unwrap()
}

// ---- Units ---------------------------------------------------------------------------------------

#[test]
fn a_unit_is_added_once_and_not_when_it_is_another_misspelt() {
    let dashboard = shop();
    let add = |id: &str| dashboard.post_new(OPERATOR, "/units", &[("unit", id)]);
    for (id, words) in [
        ("", "fill in “Unit ID”"),
        ("a b", "<code><bdi>a b</bdi></code> is not an ID"),
        ("a,b", "is not an ID"),
        ("<script>\"", "&lt;script&gt;"),
    ] {
        let answer = add(id);
        has(&answer, 422, words);
        has(&answer, 422, "aria-invalid=\"true\" aria-describedby=\"unit-problem unit-hint\"");
        assert_eq!(field(&answer.text, "unit"), id, "what was entered");
    }
    has(&add("shop"), 200, "Registered before: shop.");
    dashboard.store().set_failing(Some("audit:"));
    assert_eq!(add(ODD).status, 503);
    dashboard.store().set_failing(None);
    assert_eq!(commands(&dashboard), [""; 0]);
    let question = add("shop2");
    has(&question, 200, "Create the unit shop2?");
    has(
        &dashboard.press(OPERATOR, &question, "Use the unit shop"),
        200,
        "Registered before: shop.",
    );
    let (path, mut fields) = confirmation(&question);
    fields.iter_mut().filter(|(name, _)| name == "unit").for_each(|it| it.1 = "shop3".to_owned());
    let fields: Vec<_> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
    has(&dashboard.post(OPERATOR, &path, &fields), 422, "Create the unit shop3?"); // it is looked up
    assert!(!dashboard.store().names().iter().any(|name| name.starts_with("unit:shop2")));
    has(&dashboard.press(OPERATOR, &question, "Create the unit shop2"), 200, "Registered: shop2.");
    has(&dashboard.confirm(OPERATOR, &question), 200, "This was already done");
    for words in ["Registered: ", "Registered before: "] {
        has(&add(ODD), 200, words);
    }
    assert_eq!(commands(&dashboard), ["units add", "units add"]);
    has(&dashboard.get(OPERATOR, "/units"), 200, &format!("href=\"{ODD_PATH}\""));
    has(&dashboard.get(OPERATOR, ODD_PATH), 200, "a/b?c#d%e&lt;f&gt;&amp;'+:;</code>");
}

#[test]
fn the_register_shows_a_thousand_units_and_says_that_there_are_more() {
    let dashboard = shop();
    let store = dashboard.store();
    store.keep("profile:shop", br#"{"name":"<i>Shop"}"#, b"null");
    store.keep("profile:odd", b"{", b"null");
    let page = dashboard.get(SUPPORT, "/units");
    has(&page, 200, "&lt;i&gt;Shop");
    has(&page, 200, "Unreadable profile");
    assert!(!page.text.contains("Create a unit") && !page.text.contains("first 1000"));
    for number in 0..1_100 {
        store.keep(&format!("unit:u{number:04}"), b"{}", b"null");
    }
    store.take_reads();
    store.take_lists();
    let page = dashboard.get(OPERATOR, "/units").text;
    assert_eq!(page.matches("<tr>").count(), 1 + 1_000);
    assert!(page.contains("u0997<") && !page.contains("u0998<"), "sorted, with odd and shop");
    assert!(page.contains("the first 1000"), "{page}");
    assert_eq!((store.take_lists().len(), store.reads()), (3, 2));
}

#[test]
fn a_unit_s_page_shows_each_role_what_it_may_do() {
    let dashboard = shop();
    for (person, shown, hidden) in [
        (
            OPERATOR,
            &["API keys", "href=\"/teams/team\"", "<form", "/shop/payments", "/person?unit=shop"][..],
            &[][..],
        ),
        (
            SUPPORT,
            &["href=\"/find?unit=shop\""],
            &["API keys", "/teams/", "<form", "payments", "/person"],
        ),
        (
            ACCOUNTS,
            &["/units/shop/payments", "/find?unit=shop"],
            &["API keys", "/teams/", "<form", "/person"],
        ),
    ] {
        let page = dashboard.get(person, "/units/shop").text;
        assert!(page.contains("X-Service-Unit-Id") && page.contains(">shop</code>"), "{page}");
        for words in shown {
            assert!(page.contains(words), "{person}: {words}");
        }
        for words in hidden {
            assert!(!main_of(&page).contains(words), "{person}: {words}");
        }
    }
    for (person, path) in [(SUPPORT, "/find?unit=a%2Fb"), (OPERATOR, "/person?unit=a%2Fb")] {
        let linked = dashboard.get(person, &format!("{path}&text=x&address=x")).text;
        assert_eq!(field(&linked, "unit"), "a/b");
        assert!(!linked.contains("\"x\""), "{linked}");
    }
    has(&dashboard.get(SUPPORT, "/units/a%20b"), 422, "is not an ID");
    let unknown = dashboard.get(OPERATOR, "/units/shpo");
    has(&unknown, 200, "The unit shpo does not exist yet.");
    has(&unknown, 200, "Did you mean <a href=\"/units/shop\">");
    has(&unknown, 200, ">Create key</button>");
}

// ---- Profiles ------------------------------------------------------------------------------------

#[test]
fn the_fields_that_a_person_changed_are_saved_and_only_over_what_was_seen() {
    let dashboard = shop();
    let first = dashboard.get(OPERATOR, "/units/shop");
    let record = json!({ "name": PROFILE[0].1, "logo": PROFILE[1].1, "link": PROFILE[2].1,
        "accent": "#8a4b2a", "language": "de", "replyTo": "hello@nordwald.example",
        "mailText": "Danke <i>\nBis bald", "timeZone": "Europe/Berlin", "mail": true,
        "messagingServices": ["MessagingServiceB"] });
    let mut expected = record.clone();
    expected["version"] = json!(impact_pledge::pledges::version::VERSION);
    let save = |page: &Answer, changes: &[(&str, &str)]| save(&dashboard, page, changes);
    let saved = save(&first, &[]);
    has(&saved, 200, "The profile is saved.");
    has(&saved, 200, "Nordwald &lt;b&gt;&quot;&amp;\u{5d0}");
    has(
        &saved,
        200,
        "name=\"mail-text\" rows=\"3\" aria-describedby=\"mail-text-hint\">Danke &lt;i&gt;\nBis bald</textarea>",
    );
    let shown = dashboard.get(SUPPORT, "/units/shop");
    has(&shown, 200, "Your own text in e-mails</dt><dd><bdi>Danke &lt;i&gt;\nBis bald");
    expected["change"] = profile(&dashboard, "shop")["change"].clone();
    assert_eq!(profile(&dashboard, "shop"), expected);
    has(&save(&first, &[]), 200, "This was already done"); // it was sent twice
    let mut again = dashboard.get(OPERATOR, "/units/shop");
    has(&save(&again, &[]), 422, "already saved, so nothing was changed");

    // Another person changes another field: both are kept. A field that another person has changed is refused.
    let mut other = dashboard.get(OPERATOR, "/units/shop");
    has(&save(&other, &[("accent", "#224488")]), 200, "is saved");
    has(&save(&again, &[("name", "Other")]), 200, "is saved");
    let now = profile(&dashboard, "shop");
    assert_eq!((&now["accent"], &now["name"]), (&json!("#224488"), &json!("Other")));
    again = first;
    again.text =
        again.text.replacen("name=\"operation\" value=\"", "name=\"operation\" value=\"x-", 9);
    let late = save(&again, &[("name", "Third")]);
    has(&late, 422, "was set to <code><bdi>Other</bdi></code> by ada@example.org at 31 Jan 2026");
    assert_eq!(field(&late.text, "name"), "Third");

    other = dashboard.get(OPERATOR, "/units/shop");
    let texts = ["logo", "accent", "mail-text", "reply-to", "time-zone"].map(|name| (name, " "));
    let choices = [
        ("language", "reader"),
        ("mail", "off"),
        ("messaging-services-MessagingServiceB", "-"),
        ("name", "Other"),
    ];
    has(&save(&other, &[&texts[..], &choices].concat()), 200, "is saved");
    let now = profile(&dashboard, "shop");
    let fewer = json!({ "name": "Other", "link": PROFILE[2].1, "version": expected["version"],
        "change": now["change"] });
    assert_eq!(now, fewer);
    assert_eq!(commands(&dashboard), ["units set"; 4]);
    has(&dashboard.get(SUPPORT, "/units/shop"), 200, "Follow the reader's browser");
}

/// A person must choose the language of a new profile. One of the choices is to follow the reader's browser.
#[test]
fn a_new_profile_asks_for_the_language() {
    let dashboard = shop();
    let page = dashboard.get(OPERATOR, "/units/shop");
    has(&page, 200, "<option value=\"\" selected>Choose a language</option>");
    has(&page, 200, "Those texts are never translated");
    let missing = save(&dashboard, &page, &[("language", "")]);
    has(&missing, 422, "Choose the <code><bdi>language</bdi></code> of the shop's pages");
    has(&missing, 422, "<a href=\"#language\">Go to the field</a>");
    assert_eq!(field(&missing.text, "name"), PROFILE[0].1, "what was entered is kept");
    assert_eq!((profile(&dashboard, "shop"), commands(&dashboard)), (Value::Null, vec![]));
    let wrong = save(&dashboard, &page, &[("language", "reader"), ("link", "x")]);
    has(&wrong, 422, "<option value=\"reader\" selected>Follow the reader's browser</option>");
    has(&preview(&dashboard, &page, "page", &[("language", "")]), 200, "<html lang=\"en\">");
    let saved = save(&dashboard, &page, &[("language", "reader")]);
    has(&saved, 200, "The profile is saved.");
    has(&saved, 200, "<option value=\"reader\" selected>");
    assert!(!saved.text.contains("Choose a language"));
    assert_eq!(profile(&dashboard, "shop")["language"], Value::Null);
    has(&save(&dashboard, &saved, &[("language", "ja")]), 200, "is saved");
    assert_eq!(profile(&dashboard, "shop")["language"], "ja");
}

#[test]
fn a_wrong_profile_is_shown_again_with_what_was_entered() {
    let dashboard = shop();
    let page = dashboard.get(OPERATOR, "/units/shop");
    for (name, value, words) in [
        ("name", "", "has no profile yet"),
        ("name", "<script>\u{202e}", "must be one line"),
        ("logo", "http://nordwald.example/<script>", "must start with <code><bdi>https://"),
        ("link", "javascript:alert(1)", "must start with <code><bdi>https://"),
        ("accent", "red;}", "must be a colour"),
        ("language", "xx", "must be one of"),
        ("reply-to", "Ada <ada@shop.example>", "must be an e-mail address"),
        ("mail-text", "a\n\nb", "must have 1 to 6 lines"),
        ("mail-text", "\u{202e}", "must have 1 to 6 lines"),
        ("time-zone", "Berlin", "must be a time zone"),
        ("time-zone", "+01:00", "must be a time zone"),
    ] {
        let answer = save(&dashboard, &page, &[(name, value)]);
        has(&answer, 422, words);
        if name == "mail-text" {
            has(&answer, 422, &format!(">{value}</textarea>"));
        } else if name != "language" {
            assert_eq!(field(&answer.text, name), value);
            assert!(answer.text.contains("aria-invalid=\"true\""), "{name}");
        }
        for of in ["page", "mail"] {
            has(&preview(&dashboard, &page, of, &[(name, value)]), 422, words);
        }
    }
    let misspelt = save(&dashboard, &dashboard.get(OPERATOR, "/units/shop2"), &[]);
    has(&misspelt, 200, "Create the unit shop2?");
    has(&misspelt, 200, "(similar: <code><bdi>shop</bdi></code>)");
    assert_eq!(commands(&dashboard), [""; 0]);
    has(&dashboard.confirm(OPERATOR, &misspelt), 200, "is saved");
    assert_eq!(
        profile(&dashboard, "shop2")["mailText"],
        "Danke <i>\nBis bald",
        "all fields are kept"
    );
    assert_eq!(dashboard.store().names().iter().filter(|name| *name == "unit:shop2").count(), 1);
    dashboard.store().keep("profile:shop", b"{\"name\":7}", b"null");
    let damaged = dashboard.get(OPERATOR, "/units/shop");
    has(&damaged, 200, "cannot be read");
    has(&save(&dashboard, &damaged, &[]), 200, "is saved");
}

#[test]
fn previews_are_documents_of_their_own_and_change_nothing() {
    let dashboard = shop();
    let page = dashboard.get(OPERATOR, "/units/shop");
    for language in Language::VARIANTS {
        let option = format!("<option value=\"{}\"", language.tag());
        assert!(page.text.contains(&option), "{option}");
    }
    let stored =
        br##"{"name":"<b>Stored","accent":"#224488","logo":"https://nordwald.example/l.svg"}"##;
    dashboard.store().keep("profile:shop", stored, b"null");
    for (of, policy, words) in [
        ("page", "style-src 'sha256-", "Mangroves"),
        ("mail", "frame-ancestors 'none'; sandbox", "Mangroves"),
    ] {
        let stored = dashboard.get(ACCOUNTS, &format!("/units/shop/preview?of={of}"));
        let tried = preview(&dashboard, &page, of, &[("name", "<i>Tried")]);
        for (answer, name) in [(&stored, "&lt;b&gt;Stored"), (&tried, "&lt;i&gt;Tried")] {
            has(answer, 200, words);
            has(answer, 200, name);
            let is_own = of == "mail" && name.contains("Tried");
            assert_eq!(answer.text.contains("Danke &lt;i&gt;<br>Bis bald"), is_own, "{of}");
            let found = &answer.headers["content-security-policy"];
            assert!(found.starts_with("default-src 'none'") && found.contains(policy), "{found}");
        }
        has(&tried, 200, "<html lang=\"de\"");
        has(&dashboard.get(SUPPORT, &format!("{ODD_PATH}/preview?of={of}")), 200, "Impact Pledge");
    }
    has(&dashboard.get(SUPPORT, "/units/shop/preview?of=x"), 422, "must be <code>");
    assert_eq!(commands(&dashboard), [""; 0]);
    assert_eq!(profile(&dashboard, "shop")["name"], "<b>Stored");
}

// ---- Teams ---------------------------------------------------------------------------------------

#[test]
fn a_team_is_made_of_a_first_unit_and_once() {
    let dashboard = shop();
    let add =
        |team, unit| dashboard.post_new(OPERATOR, "/teams", &[("team", team), ("unit", unit)]);
    for (team, unit, words) in [
        ("a:b", "shop", "without a colon"),
        ("a b", "shop", "<code><bdi>a b</bdi></code> is not an ID"),
        ("chain", "", "fill in “Unit ID”"),
        ("team", "other", "the team <code><bdi>team</bdi></code> already exists"),
        ("team", "shop", "the team <code><bdi>team</bdi></code> already exists"),
    ] {
        let answer = add(team, unit);
        has(&answer, 422, words);
        assert_eq!([field(&answer.text, "team"), field(&answer.text, "unit")], [team, unit]);
    }
    for (team, unit, button, other) in [
        ("chain", "shop", "Create the team chain", ""),
        ("teams", "shop", "Create the team teams", "Use the team team"),
        ("chain", "shop2", "Create the team chain and the unit shop2", "Use the unit shop"),
        (
            "teams",
            "shop2",
            "Create the team teams and the unit shop2",
            "Use the team team and the unit shop",
        ),
    ] {
        let question = add(team, unit);
        has(&question, 200, &format!(">{button}</button>"));
        has(&question, 200, other);
        assert_eq!(question.text.contains(">Use the "), !other.is_empty(), "{}", question.text);
    }
    assert_eq!(commands(&dashboard), [""; 0]);
    let misspelt = add("chain", "shop2");
    let question = dashboard.press(OPERATOR, &misspelt, "Use the unit shop");
    let made = dashboard.press(OPERATOR, &question, "Create the team chain");
    has(&made, 200, "may act for shop now");
    has(&dashboard.confirm(OPERATOR, &question), 200, "This was already done");
    has(&add("chain", "shop"), 422, "already exists");
    let odd = dashboard.confirm(OPERATOR, &add("<i>", ODD));
    has(&odd, 200, &format!("href=\"{ODD_PATH}\""));
    assert_eq!(commands(&dashboard), ["teams add", "teams add"]);
    let page = dashboard.get(OPERATOR, "/teams");
    has(&page, 200, "<a href=\"/teams/%3Ci%3E\"><bdi>&lt;i&gt;</bdi></a>");
    has(
        &page,
        200,
        "<a href=\"/teams/chain\"><bdi>chain</bdi></a></th><td class=\"number\" data-label=\"Units\">1</td>",
    );
    assert!(!page.text.contains("Not all teams and units are shown"), "{}", page.text);
    dashboard.store().set_page_length(1);
    for number in 0..9 {
        dashboard.store().keep(&format!("member:a:{number}"), b"{}", b"null");
    }
    let page = dashboard.get(OPERATOR, "/teams");
    has(&page, 200, "Not all teams and units are shown");
    has(&page, 200, "><bdi>a</bdi></a></th><td class=\"number\" data-label=\"Units\">9</td>");
}

#[test]
fn units_come_and_go_without_a_new_key() {
    let dashboard = shop();
    let post = |path: &str, fields: &[(&str, &str)]| {
        dashboard.post(OPERATOR, &format!("/teams/team/{path}"), fields)
    };
    let open = || form_id(&dashboard, "/teams/team");
    let (id, late) = (open(), open());
    let (form, odd) = (("operation", &*id), ("unit", ODD));
    has(&post("add", &[form, ("unit", "a b")]), 422, "is not an ID");
    has(&post("add", &[odd]), 422, "Some fields are missing");
    let misspelt = post("add", &[form, ("unit", "shops")]);
    let used = dashboard.press(OPERATOR, &misspelt, "Use the unit shop");
    has(&used, 200, "shop was already in the team");
    let asked = post("add", &[form, odd]);
    has(&asked, 200, "Create the unit");
    assert!(!dashboard.store().names().contains(&format!("member:team:{ODD}")));
    has(&dashboard.confirm(OPERATOR, &asked), 200, &format!("href=\"{ODD_PATH}\""));
    has(&dashboard.confirm(OPERATOR, &asked), 200, "This was already done");
    let (removal, late_removal) = (post("remove", &[odd]), post("remove", &[odd]));
    has(&removal, 200, "Nothing was changed yet");
    assert_eq!(field(&removal.text, "unit"), ODD);
    assert!(dashboard.store().names().contains(&format!("member:team:{ODD}")));
    dashboard.clock.0.set(NOW_MS + 1_000);
    has(&dashboard.confirm(OPERATOR, &removal), 200, "may no longer act for");
    for repeated in [&removal, &asked] {
        let again = dashboard.confirm(OPERATOR, repeated);
        has(&again, 200, "This was already done");
        assert!(!again.text.contains(ODD_PATH), "it was removed since: {}", again.text);
    }
    has(&post("add", &[("operation", &late), odd]), 422, "ada@example.org removed it");
    dashboard.clock.0.set(NOW_MS + 2_000);
    has(&post("add", &[("operation", &open()), odd]), 200, "may act for");
    has(&dashboard.confirm(OPERATOR, &late_removal), 422, "ada@example.org added it");
    dashboard.clock.0.set(NOW_MS + 61 * 60_000);
    has(&dashboard.confirm(OPERATOR, &removal), 200, "This was already done");
    has(&dashboard.confirm(OPERATOR, &late_removal), 422, "more than 60 minutes old");
    assert_eq!(commands(&dashboard), ["teams add", "teams remove", "teams add"]);
    let no_team = dashboard.post_confirmed(OPERATOR, "/teams/a:b/remove", &[("unit", "shop")]);
    has(&no_team, 422, "colon");
    let misspelt = dashboard.post_new(OPERATOR, "/teams/teams/add", &[("unit", "shop")]);
    has(&misspelt, 200, ">Create the team teams</button>");
    assert!(!misspelt.text.contains(">Use the team"), "the address has the team");
    let unknown = dashboard.get(OPERATOR, "/teams/other");
    has(&unknown, 200, "The team other does not exist yet.");
    has(&unknown, 200, "No units yet.");
    has(&unknown, 200, "No API keys yet.");
}

#[test]
fn a_change_is_shown_before_lists_show_it() {
    let dashboard = shop();
    dashboard.store().set_hidden(Some("member:"));
    let added = dashboard.post_confirmed(OPERATOR, "/teams/team/add", &[("unit", "till")]);
    has(&added, 200, "href=\"/units/till\"");
    dashboard.store().set_hidden(Some("unit:"));
    let made = dashboard.post_new(OPERATOR, "/units", &[("unit", "kiosk")]);
    has(&made, 200, "Registered: kiosk.");
    assert!(!made.text.contains("does not exist yet"), "{}", made.text);
    let page = dashboard.get(OPERATOR, "/units/shop");
    has(&save(&dashboard, &page, &[]), 200, "Nordwald");
}
