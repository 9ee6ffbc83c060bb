#pragma once

#include "ui/context/inspector_context.h"
#include "ui/dialogs/report_dialog.h"

namespace sonde::window {

/// Modules of the model that a report can draw from inside, outermost first; not more than a list can hold.
QStringList reportModules(const context::OpenModel& model);

/// "x: photo.png": which values a report shows, for people.
QString reportInputs(const context::InspectorContext& context);

/// The work that writes a report of the session as it is now, as `sonde report` writes it. Errors (Usage): the file
/// is one that the session reads, or its ending is no format.
base::Result<dialogs::ReportDialog::Work> reportWork(context::InspectorContext& context,
                                                     const dialogs::ReportChoice& choice);

}  // namespace sonde::window
