#pragma once

#include <QString>

namespace sonde::window {

/// Where the file dialogs begin: the folder of the file that was chosen last; kept in the settings.
QString lastFolder();
void keepFolder(const QString& file);

}  // namespace sonde::window
