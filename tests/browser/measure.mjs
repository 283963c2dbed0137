// What a page takes: bytes, requests, time of its main thread, memory.
export class Meter {
  /** Watches a page; the names of figures are those of Chromium's debugger. */
  static async on(page) {
    const meter = new Meter();
    meter.page = page;
    meter.session = await page.context().newCDPSession(page);
    meter.bytes = 0;
    meter.requests = 0;
    await meter.session.send('Network.enable');
    await meter.session.send('Performance.enable', { timeDomain: 'threadTicks' });
    meter.session.on('Network.dataReceived', ({ encodedDataLength }) => { meter.bytes += encodedDataLength; });
    meter.session.on('Network.responseReceived', ({ response }) => {
      meter.requests++;
      meter.bytes += response.encodedDataLength;
    });
    return meter;
  }

  async figures() {
    const { metrics } = await this.session.send('Performance.getMetrics');
    const figure = Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
    return { bytes: this.bytes, requests: this.requests, thread_ms: figure.TaskDuration * 1000, nodes: figure.Nodes };
  }

  /** The bytes of the page's objects, without those that nothing refers to. */
  async heap() {
    await this.session.send('HeapProfiler.collectGarbage');
    await this.session.send('HeapProfiler.collectGarbage');
    return (await this.session.send('Runtime.getHeapUsage')).usedSize;
  }
}

/** Waits for so many events of the page's stream, or seconds if that is given. */
export const seconds = (count) => new Promise((resolve) => setTimeout(resolve, count * 1000));

/** The value below which this part of the values is. */
export function quantile(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
}
