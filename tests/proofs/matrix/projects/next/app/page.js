"use client";
import { useEffect } from "react";
import { tryAll, tryForm } from "../entries.mjs";

export default function Page() {
  useEffect(() => {
    const baseUrl = new URLSearchParams(location.search).get("service");
    window.result = tryAll({ baseUrl }).then(async (all) => [all, await tryForm(document)]);
  }, []);
  return <main>A page</main>;
}
