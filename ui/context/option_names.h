#pragma once

#include <QRegularExpression>
#include <QString>

#include <vector>

#include "core/export/export_options.h"

namespace sonde::context {

/// How texts of core, which are written for the command line, name an option of an export, and what that is in the
/// export dialog.
struct OptionName {
    const exporting::ExportOption* option;
    const exporting::OptionChoice* choice;  ///< of "enable_nchw88"; null: the option as a whole
    /// "--maxerr", "enable_ioc16", "--option enable_ioc16=true". Its first group is one of the option's values, if that
    /// follows: "FBS" of "--dump-format FBS".
    QRegularExpression pattern;
    bool isOpposite;  ///< what is said of "--no-metadata" is the opposite of what holds for "Keep metadata"

    QString label() const;  ///< "Maximum error"; "Layout: nchw88", as in the preview
    QString place() const;  ///< "File › Format": where the dialog has it
};

/// Of all options of all exports.
const std::vector<OptionName>& optionNames();

}  // namespace sonde::context
