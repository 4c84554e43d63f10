/** Japanese. */
import { plural } from "./plural.js";

const atLeast = plural("ja", { other: "#件以上選んでください" });
const atMost = plural("ja", { other: "#件以内で選んでください" });
const more = plural("ja", { other: "ほかに#件の問題があります" });
const summary = plural("ja", { other: "#件の入力を確認してください" });
const number = "数値を入力してください";
const unreadableText = "読み取れない文字を削除してください", unreadable = "この入力は読み取れません";

export const ja = {
  invalid_type: ({ meta }) => (meta.expected === "number" ? number : "別の値を入力してください"),
  required: "この項目を入力してください",
  unknown_member: "この項目はここでは使えません",
  duplicate_member: "この項目は一度だけ入力してください",
  too_few_items: ({ meta }) => atLeast(meta.minimum),
  too_many_items: ({ meta }) => atMost(meta.maximum),
  not_positive: "0より大きい数値を入力してください",
  not_finite: number,
  not_allowed: "選択肢から選んでください",
  invalid_email: "ada@example.org のようなメールアドレスを入力してください",
  invalid_uri: "https://example.org/ のような完全なURLを入力してください",
  invalid_date_time: "正しい日時を入力してください",
  lone_surrogate: unreadableText,
  invalid_utf8: unreadableText,
  too_deep: unreadable,
  malformed_json: unreadable,
  unreadable,
  unknown_pointer: unreadable,
  more_issues: ({ count }) => more(count),
  summary: ({ count }) => summary(count),
  submit_failed: "送信できませんでした",
  retry: "もう一度試す",
};

export default ja;
