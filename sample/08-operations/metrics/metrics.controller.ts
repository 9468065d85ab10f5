import type { IncomingMessage, ServerResponse } from 'node:http';
import { Controller, Get, Req, Res } from '@nestjs/common';
import { prometheus } from './prometheus.js';

/** Where Prometheus looks. */
@Controller('metrics')
export class MetricsController {
  @Get()
  metrics(@Req() request: IncomingMessage, @Res() response: ServerResponse): void {
    prometheus.getMetricsRequestHandler(request, response);
  }
}
