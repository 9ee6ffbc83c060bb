#pragma once

#include <QByteArray>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/session/report/report.h"

namespace sonde::report {

/// A report as PDF on A4 pages: a list of sections with their pages, on each page a head with the model and its hash
/// and the page's number below. Pictures are vectors, tables have their head on each page. The same report gives the
/// same bytes. On any thread, in a program with a QGuiApplication. Error: Cancelled.
base::Result<QByteArray> reportPdf(const session::Report& report, const base::WorkContext& work = {});

}  // namespace sonde::report
