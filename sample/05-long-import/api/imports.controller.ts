import { Body, Controller, Delete, Get, HttpCode, NotFoundException, Param, Post } from '@nestjs/common';
import type { LockInfo } from 'nest-redis-lock';
import { ImportsService, type StartedImport } from './imports.service.js';
import { StartImportDto } from './start-import.dto.js';

@Controller('imports')
export class ImportsController {
  constructor(private readonly imports: ImportsService) {}

  /** 202 with the job, or 423 while an import of the file waits or runs. */
  @Post()
  @HttpCode(202)
  start(@Body() { file }: StartImportDto): Promise<StartedImport> {
    return this.imports.start(file);
  }

  /** 200 while an import of the file waits or runs, else 404. */
  @Get(':file')
  async running(@Param('file') file: string): Promise<LockInfo> {
    const running = await this.imports.running(file);
    if (!running) throw new NotFoundException(`No import of ${file} is running`);
    return running;
  }

  /** For operators: 204 when an import was told to stop. */
  @Delete(':file')
  @HttpCode(204)
  async stop(@Param('file') file: string): Promise<void> {
    if (!(await this.imports.stop(file))) throw new NotFoundException(`No import of ${file} is running`);
  }
}
