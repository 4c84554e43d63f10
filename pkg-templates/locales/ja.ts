/* Japanese. */
import type { LocalePack } from "../validate/index.ts";
import { pack } from "./pack.ts";

/** The texts for shoppers in Japanese. */
export const ja: LocalePack = /* @__PURE__ */ pack("ja", {
  required: "この項目を入力してください",
  number: "数値を入力してください",
  unknown_member: "この項目はここでは使えません",
  duplicate_member: "この項目は一度だけ入力してください",
  too_few_items: { other: "#件以上選んでください" },
  too_many_items: { other: "#件以内で選んでください" },
  not_positive: "0より大きい数値を入力してください",
  not_allowed: "選択肢から選んでください",
  invalid_email: "ada@example.org のようなメールアドレスを入力してください",
  invalid_uri: "https://example.org/ のような完全なURLを入力してください",
  invalid_date_time: "正しい日時を入力してください",
  unreadable: "この入力は読み取れません",
  too_low: { other: "#以上で入力してください" },
  too_high: { other: "#以下で入力してください" },
  invalid_value: "この値はここでは使えません",
  more_issues: { other: "ほかに#件の問題があります" },
  summary: { other: "#件の入力を確認してください" },
  submit_failed: "送信できませんでした",
  retry: "もう一度試す",
});

export default ja;
