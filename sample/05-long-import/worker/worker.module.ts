import { Module } from '@nestjs/common';
import { ImportsModule } from '../imports/imports.module.js';
import { FileImport } from './file-import.js';
import { ImportedRows } from './imported-rows.js';
import { ImportsProcessor } from './imports.processor.js';

@Module({
  imports: [ImportsModule],
  providers: [
    ImportsProcessor,
    FileImport,
    { provide: ImportedRows, useFactory: () => new ImportedRows(process.env.IMPORT_DIRECTORY ?? '.') },
  ],
})
export class WorkerModule {}
