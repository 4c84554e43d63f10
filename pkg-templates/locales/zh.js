/** Chinese. */
import { plural } from "./plural.js";

const atLeast = plural("zh", { other: "请至少选择 # 项" });
const atMost = plural("zh", { other: "最多选择 # 项" });
const more = plural("zh", { other: "还有 # 个问题" });
const summary = plural("zh", { other: "请检查 # 处内容" });
const number = "请输入数字";
const unreadableText = "请删除无法识别的字符", unreadable = "无法读取此项内容";

export const zh = {
  invalid_type: ({ meta }) => (meta.expected === "number" ? number : "请输入其他内容"),
  required: "请填写此项",
  unknown_member: "此处不需要该字段",
  duplicate_member: "此项只能填写一次",
  too_few_items: ({ meta }) => atLeast(meta.minimum),
  too_many_items: ({ meta }) => atMost(meta.maximum),
  not_positive: "请输入大于 0 的数字",
  not_finite: number,
  not_allowed: "请从选项中选择",
  invalid_email: "请输入电子邮箱，例如 ada@example.org",
  invalid_uri: "请输入完整网址，例如 https://example.org/",
  invalid_date_time: "请输入有效的日期和时间",
  lone_surrogate: unreadableText,
  invalid_utf8: unreadableText,
  too_deep: unreadable,
  malformed_json: unreadable,
  unreadable,
  unknown_pointer: unreadable,
  more_issues: ({ count }) => more(count),
  summary: ({ count }) => summary(count),
  submit_failed: "发送失败",
  retry: "重试",
};

export default zh;
