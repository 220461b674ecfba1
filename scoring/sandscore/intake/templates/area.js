"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const two = (number) => String(number).padStart(2, "0");
  const local = (moment) => `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())} ${two(moment.getHours())}:${two(moment.getMinutes())}`;
  const addLocal = (within) => {
    for (const time of within.querySelectorAll("time")) {
      const moment = new Date(time.dateTime);
      if (!Number.isNaN(moment.getTime())) time.title = `${local(moment)} by your clock`;
    }
  };
  const renew = async () => {
    const answer = await fetch(location.href, { credentials: "same-origin", cache: "no-store" });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const id of ["live", "live-list"]) {
      const now = document.getElementById(id);
      const then = fresh.getElementById(id);
      if (now && then && now.innerHTML !== then.innerHTML) { now.replaceChildren(...then.childNodes); addLocal(now); }
    }
  };
  document.addEventListener("DOMContentLoaded", () => {
    addLocal(document);
    for (const clock of document.querySelectorAll("[data-clock]")) clock.textContent = `; your clock: ${local(new Date())}`;
    for (const form of document.querySelectorAll("form[data-once]")) {
      form.addEventListener("submit", () => { const button = form.querySelector("button"); button.disabled = true; button.textContent = "Handing in…"; });
    }
    const main = document.querySelector("[data-live]");
    if (!main) return;
    const events = new EventSource(main.dataset.live);
    events.addEventListener("message", renew);
    events.addEventListener("open", renew);
  });
})();
