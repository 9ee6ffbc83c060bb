#include "ui/window/script_ids.h"

#include <QString>

#include <vector>

#include "core/export/export_choice.h"
#include "ui/dialogs/help_viewer.h"
#include "ui/models/node_columns.h"
#include "ui/window/panel_table.h"

namespace sonde::window {

namespace {

std::string listed(const std::vector<QString>& ids) {
    std::string text;
    for (const QString& id : ids) text += (text.empty() ? "" : ", ") + id.toStdString();
    return text;
}

}  // namespace

std::string panelIds() {
    std::vector<QString> ids;
    for (const panels::PanelInfo& panel : panelTable()) ids.push_back(panel.id);
    return listed(ids);
}

std::string colorIds() {
    std::vector<QString> ids;
    for (const models::NodeColumn& column : models::nodeColumns())
        if (column.id != QLatin1String("note")) ids.push_back(models::nodeColumnWord(column.id));
    return listed(ids);
}

std::string helpPageIds() {
    const QStringList ids = dialogs::HelpViewer::pageIds();
    return listed({ids.begin(), ids.end()});
}

std::string presetIds() {
    std::string text;
    for (const exporting::ExportFormatInfo& info : exporting::exportFormats())
        text += (text.empty() ? "" : "; ") + std::string(info.id) + ": " + exporting::exportPresetIds(info.format);
    return text;
}

}  // namespace sonde::window
