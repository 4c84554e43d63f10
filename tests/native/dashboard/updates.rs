//! Tests the pages of updates.

use super::fields::assert_problem_at;
use super::prices::assert_has;
use super::usage::rows;
use super::{ACCOUNTS, OPERATOR, SUPPORT, TestDashboard, dashboard, field};
use serde_json::json;
use support::service::{Answer, LIVE_UNIT, minimal, seeded};

const PAGE: &str = "/updates?mode=live&month=2026-01";

/// Returns a dashboard of a service with one transaction: 12 trees, pledged in January.
fn pledged() -> TestDashboard {
    let dashboard = dashboard(seeded());
    let mut order = minimal();
    order["pledges"] = json!([{ "impact": { "amount": 12, "offeringId": "tree" } }]);
    dashboard.service.create(LIVE_UNIT, &order);
    dashboard.reconcile();
    dashboard
}

/// Sends the form that adds an update, with some fields changed.
fn add(dashboard: &TestDashboard, changed: &[(&str, &str)]) -> Answer {
    let page = dashboard.get(OPERATOR, PAGE);
    let (_, section) = page.text.split_once("id=\"add\"").unwrap();
    let hidden = ["mode", "month", "operation"].map(|name| (name, field(section, name)));
    let hidden = hidden.iter().map(|(name, value)| (*name, &**value));
    let given = [
        ("offering", "tree"),
        ("stage", "done"),
        ("date", "2026-01-20"),
        ("place", "Kitui"),
        ("text-en", "We <planted> them."),
        ("text-de", ""),
    ];
    let kept = given.into_iter().filter(|(name, _)| changed.iter().all(|(other, _)| other != name));
    let fields: Vec<_> = hidden.chain(kept).chain(changed.iter().copied()).collect();
    dashboard.post(OPERATOR, "/updates", &fields)
}

/// Returns the ID of the update that a page shows.
fn id_of(page: &Answer) -> String {
    let (_, rest) = page.text.split_once("upd_").expect("an update");
    ["upd_", &rest[..20]].concat()
}

/// Finds the form with this action on the page of an update, and sends the form. `more` contains further
/// fields.
fn send(dashboard: &TestDashboard, page: &Answer, action: &str, more: &[(&str, &str)]) -> Answer {
    let start = format!("action=\"{action}\"");
    let (_, form) = page.text.split_once(&start).expect(action);
    let (form, _) = form.split_once("</form>").unwrap();
    let named = ["operation", "revision", "id"].into_iter();
    let own: Vec<_> = named
        .filter(|name| form.contains(&format!("name=\"{name}\"")))
        .map(|name| (name, field(form, name)))
        .collect();
    let fields = own.iter().map(|(name, value)| (*name, &**value)).chain(more.iter().copied());
    dashboard.post(OPERATOR, action, &fields.collect::<Vec<_>>())
}

#[test]
fn an_update_is_drafted_previewed_published_edited_and_withdrawn() {
    let dashboard = pledged();
    let page = dashboard.get(OPERATOR, PAGE);
    assert_has(&page, 200, &["No updates for this month yet", "<option value=\"tree\">", "70 s"]);

    let page = add(&dashboard, &[]);
    assert_has(&page, 200, &["The draft was saved", "Draft: buyers do not see it", "Preview (en)"]);
    let path = format!("/updates/{}", id_of(&page));
    let names = dashboard.store().names();
    assert!(!names.iter().any(|name| name.starts_with("updates:")));

    let preview = dashboard.get(OPERATOR, &format!("{path}/preview?language=en"));
    assert_has(&preview, 200, &["We &lt;planted&gt; them.", "Kitui", "<html lang=\"en\""]);
    let policy = preview.headers.get("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'"), "{policy}");

    let published = send(&dashboard, &page, &format!("{path}/publish"), &[]);
    assert_has(
        &published,
        200,
        &["was published", "after about 70 s", "Published: timelines show it"],
    );
    let list = dashboard.get(OPERATOR, PAGE);
    assert_eq!(
        rows(&list)[0][..5],
        ["tree", "20 Jan 2026", "Done", "We &lt;planted&gt; them.", "Published"]
    );

    let changed = [("stage", "verified"), ("date", "2026-01-21"), ("text-en", "Counted.")];
    let asked = send(&dashboard, &published, &path, &changed);
    assert_has(&asked, 422, &["buyers see this update", "value=\"Counted.\""]);
    assert_problem_at(&asked, "confirmed");
    assert_eq!(rows(&dashboard.get(OPERATOR, PAGE))[0][2], "Done", "nothing was changed");
    let changed = [&changed[..], &[("confirmed", "yes")]].concat();
    let edited = send(&dashboard, &asked, &path, &changed);
    assert_has(&edited, 200, &["The update was saved", "Update: Verified", "value=\"Counted.\""]);

    let asked = send(&dashboard, &edited, &format!("{path}/withdraw"), &[]);
    assert_has(
        &asked,
        200,
        &["Withdraw this update?", "Nothing was changed yet", "70 s", "Counted."],
    );
    let withdrawn = send(&dashboard, &asked, &format!("{path}/withdraw"), &[]);
    assert_has(&withdrawn, 200, &["was withdrawn", "Withdrawn: timelines do not show it"]);
    let again = send(&dashboard, &asked, &format!("{path}/withdraw"), &[]);
    assert_has(&again, 200, &["The form was sent twice"]);
    assert!(!dashboard.store().names().iter().any(|name| name.starts_with("updates:")));
    let log = dashboard.get(OPERATOR, "/audit");
    assert_has(&log, 200, &["drafted an update", "published an update", "withdrew an update"]);
    assert!(!log.text.contains("them.."), "{}", log.text);
}

#[test]
fn a_refused_form_says_why_at_its_field_and_keeps_what_was_typed() {
    let dashboard = pledged();
    for (name, value, wrong) in [
        ("offering", "", "offering"),
        ("date", "2027-01-01", "date"),
        ("quantity", "many", "quantity"),
        ("latitude", "91", "longitude"),
        ("longitude", "38", "latitude"),
        ("place", "a\u{202e}b", "place"),
        ("partner", "\u{200b}", "partner"),
        ("picture", "javascript:alert(1)", "picture"),
        ("picture-text", "Seedlings", "picture"),
        ("report", "http://example.org", "report"),
        ("text-de", "a\u{202e}b", "text-de"),
        ("text-pt-BR", "a\u{2066}b", "text-pt-BR"),
    ] {
        let page = add(&dashboard, &[(name, value)]);
        assert_has(
            &page,
            422,
            &[&format!("id=\"{wrong}-problem\""), &format!("href=\"#{wrong}\""), "role=\"alert\""],
        );
        assert!(page.text.contains(&format!("value=\"{value}\"")), "{name} is kept");
    }
    assert_has(&dashboard.get(OPERATOR, PAGE), 200, &["No updates for this month yet"]);
    let incomplete = dashboard.post(OPERATOR, "/updates", &[("stage", "done")]);
    assert_has(&incomplete, 422, &["Some fields are missing"]);
}

#[test]
fn a_preview_of_a_form_saves_nothing() {
    let dashboard = pledged();
    let names = dashboard.store().names();
    let preview = add(&dashboard, &[("preview", "de"), ("text-de", "Gepflanzt.")]);
    assert_has(&preview, 200, &["<html lang=\"de\"", "Gepflanzt."]);
    let refused = add(&dashboard, &[("preview", "en"), ("date", "never")]);
    assert_has(&refused, 422, &["id=\"date-problem\""]);
    let unknown = add(&dashboard, &[("preview", "xx")]);
    assert_eq!(unknown.status, 422);
    assert_eq!(dashboard.store().names(), names);

    let page = add(&dashboard, &[]);
    let path = format!("/updates/{}", id_of(&page));
    let changed =
        [("preview", "en"), ("stage", "done"), ("date", "2026-01-20"), ("text-en", "Not saved.")];
    let preview = send(&dashboard, &page, &path, &changed);
    assert_has(&preview, 200, &["Not saved."]);
    assert!(!dashboard.get(OPERATOR, &path).text.contains("Not saved."));
}

#[test]
fn a_draft_without_a_sentence_and_an_outdated_form_are_refused_on_their_page() {
    let dashboard = pledged();
    let page = add(&dashboard, &[("text-en", "")]);
    let path = format!("/updates/{}", id_of(&page));
    let refused = send(&dashboard, &page, &format!("{path}/publish"), &[]);
    assert_has(&refused, 422, &["write its sentence in at least one language"]);
    assert_problem_at(&refused, "text-en");
    let changed = [("stage", "done"), ("date", "2026-01-20"), ("text-en", "Now.")];
    send(&dashboard, &page, &path, &changed);
    let late = send(&dashboard, &page, &path, &changed);
    assert_has(&late, 200, &["The form was sent twice"]);
    let late = send(&dashboard, &page, &format!("{path}/publish"), &[]);
    assert_has(&late, 422, &["after you had opened it"]);
    assert_eq!(dashboard.get(OPERATOR, "/updates/upd_none").status, 422);
}

#[test]
fn what_was_done_becomes_a_draft_by_one_click() {
    let dashboard = pledged();
    let page = dashboard.get(OPERATOR, "/fulfilment?mode=live&month=2026-01");
    let (_, section) = page.text.split_once("id=\"record\"").unwrap();
    let operation = field(section, "operation");
    let fields = [
        ("mode", "live"),
        ("month", "2026-01"),
        ("operation", &operation),
        ("offering", "tree"),
        ("quantity", "5"),
        ("done-on", "2026-01-20"),
        ("partner", "Reforest"),
        ("report", "https://example.org/r"),
    ];
    let recorded = dashboard.post(OPERATOR, "/fulfilment", &fields);
    let draft = send(&dashboard, &recorded, "/fulfilment/update", &[]);
    let expected = [
        "Write its sentence",
        "value=\"Reforest\"",
        "value=\"5\"",
        "value=\"https://example.org/r\"",
    ];
    assert_has(&draft, 200, &expected);
    let again = send(&dashboard, &recorded, "/fulfilment/update", &[]);
    assert_has(&again, 200, &["The form was sent twice"]);
    let (_, form) = recorded.text.split_once("action=\"/fulfilment/update\"").unwrap();
    let other = [("operation", "another"), ("id", &*field(form, "id"))];
    let again = dashboard.post(OPERATOR, "/fulfilment/update", &other);
    assert_has(&again, 422, &["already has an update"]);
    let page = dashboard.get(OPERATOR, "/fulfilment?month=2026-01");
    assert_has(&page, 200, &[&format!("<a href=\"/updates/{}\">Open</a>", id_of(&draft))]);
    let removed = field(recorded.text.split_once("/fulfilment/remove").unwrap().1, "id");
    let asked = dashboard.post(OPERATOR, "/fulfilment/remove", &[("id", &removed)]);
    send(&dashboard, &asked, "/fulfilment/remove", &[]);
    let page = dashboard.get(OPERATOR, &format!("/updates/{}", id_of(&draft)));
    assert_has(
        &page,
        200,
        &["drafted from a fulfilment that", "Check whether the update is still right"],
    );
}

#[test]
fn workers_kv_that_fails_is_said_and_the_menu_is_for_operators() {
    let dashboard = pledged();
    let page = add(&dashboard, &[]);
    let path = format!("/updates/{}", id_of(&page));
    dashboard.store().set_failing(Some("updates:"));
    let published = send(&dashboard, &page, &format!("{path}/publish"), &[]);
    assert_has(&published, 200, &["was published", "Workers KV did not accept the record"]);
    assert_has(
        &dashboard.get(OPERATOR, PAGE),
        200,
        &["Workers KV has not accepted the last change of"],
    );
    assert!(dashboard.get(OPERATOR, "/").text.contains("href=\"/updates\""));
    for person in [ACCOUNTS, SUPPORT] {
        assert_eq!(dashboard.get(person, PAGE).status, 403);
        assert!(!dashboard.get(person, "/").text.contains("href=\"/updates\""));
    }
    let recorded = dashboard.get(ACCOUNTS, "/fulfilment?month=2026-01");
    assert!(!recorded.text.contains("/fulfilment/update"));
}
