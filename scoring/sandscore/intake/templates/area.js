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
  const pause = (seconds) => new Promise((resolve) => { setTimeout(resolve, 1000 * seconds); });
  // What is shown and what the server last said, each as one word; the page is fetched until they are the same.
  let shown = "", said = "", over = false, following = false;
  const renew = async () => {
    const answer = await fetch(location.href, { credentials: "same-origin", cache: "no-store", signal: AbortSignal.timeout(30000) });
    over = answer.redirected; // to the log in: the session is over
    if (over || !answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const id of ["live", "live-list"]) {
      const now = document.getElementById(id);
      const then = fresh.getElementById(id);
      if (now && then && now.innerHTML !== then.innerHTML) { now.replaceChildren(...then.childNodes); addLocal(now); }
    }
    shown = fresh.querySelector("[data-live]").dataset.state;
  };
  const follow = async () => {
    if (following) return;
    following = true;
    while (!over && shown !== said) {
      await renew().catch(() => {});
      if (shown !== said) await pause(1);
    }
    following = false;
  };
  const listen = (address) => {
    const events = new EventSource(address);
    events.addEventListener("message", (event) => { said = event.data; follow(); });
    events.addEventListener("error", async () => {
      shown = "";
      if (events.readyState !== EventSource.CLOSED) return; // the browser itself tries again
      await pause(5);
      await renew().catch(() => {});
      if (!over) listen(address);
    });
  };
  document.addEventListener("DOMContentLoaded", () => {
    addLocal(document);
    for (const clock of document.querySelectorAll("[data-clock]")) clock.textContent = `; your clock: ${local(new Date())}`;
    for (const form of document.querySelectorAll("form[data-once]")) {
      form.addEventListener("submit", () => { const button = form.querySelector("button"); button.disabled = true; button.textContent = "Handing in…"; });
    }
    const main = document.querySelector("[data-live]");
    if (!main) return;
    shown = said = main.dataset.state;
    listen(main.dataset.live);
  });
})();
