/* Browsers start no worker from a page that was opened from disk; there the search runs in a hidden frame instead. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.queue = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.onload = () => {
        frame.onload = null;
        const inner = frame.contentWindow;
        const here = (data) => this.dispatchEvent(Object.assign(new MessageEvent("message", { data })));
        inner.postMessage = (data) => here(data);
        inner.importScripts = (...urls) =>
          urls.reduce((before, each) => before.then(() => load(inner.document, each)), Promise.resolve());
        this.deliver = (data) => inner.dispatchEvent(new inner.MessageEvent("message", { data }));
        load(inner.document, url).then(() => {
          const waiting = this.queue;
          this.queue = null;
          waiting.forEach(this.deliver);
        });
      };
      document.documentElement.append(frame);
      if (frame.onload && frame.contentDocument.readyState === "complete") frame.onload();
    }
    postMessage(data) {
      if (this.queue) this.queue.push(data);
      else this.deliver(data);
    }
    terminate() {}
  };
  const load = (document, url) =>
    new Promise((done, failed) => {
      const script = document.createElement("script");
      Object.assign(script, { src: url, onload: done, onerror: failed });
      document.documentElement.append(script);
    });
}
