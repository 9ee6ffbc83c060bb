#pragma once

#include <QString>

#include <string_view>

namespace sonde::context {

/// A text of core in which options of exports are called as the export dialog calls them: "enable_io16xc32", "--option
/// enable_io16xc32" and "--maxerr" by the labels in exporting::exportOptions(), in quotation marks. Options that switch
/// something off ("--no-metadata") stay, as the dialog has the opposite.
QString withOptionLabels(std::string_view text);

/// The same text, in which no line ends inside of an option: not behind the hyphens of "--keep-var-name".
QString withUnbrokenOptions(QString text);

}  // namespace sonde::context
