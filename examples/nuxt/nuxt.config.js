export default defineNuxtConfig({
  compatibilityDate: "2026-10-01",
  telemetry: false,
  app: { head: { title: "Plant trees with your order", htmlAttrs: { lang: "en" } } },
});
