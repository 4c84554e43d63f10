/* Chinese. */
import type { LocalePack } from "../validate/index.ts";
import { pack } from "./pack.ts";

/** The texts for shoppers in Chinese. */
export const zh: LocalePack = /* @__PURE__ */ pack("zh", {
  required: "请填写此项",
  number: "请输入数字",
  unknown_member: "此处不需要该字段",
  duplicate_member: "此项只能填写一次",
  too_few_items: { other: "请至少选择 # 项" },
  too_many_items: { other: "最多选择 # 项" },
  not_positive: "请输入大于 0 的数字",
  not_allowed: "请从选项中选择",
  invalid_email: "请输入电子邮箱，例如 ada@example.org",
  invalid_uri: "请输入完整网址，例如 https://example.org/",
  invalid_date_time: "请输入有效的日期和时间",
  unreadable: "无法读取此项内容",
  too_low: { other: "不能小于 #" },
  too_high: { other: "不能大于 #" },
  invalid_value: "此处不能使用该值",
  more_issues: { other: "还有 # 个问题" },
  summary: { other: "请检查 # 处内容" },
  submit_failed: "发送失败",
  retry: "重试",
});

export default zh;
