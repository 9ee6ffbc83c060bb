#include <QHash>

#include "ui/context/inspector_context.h"
#include "ui/panels/weights/weights_panel.h"
#include "ui/widgets/search_field.h"

namespace sonde::panels {

namespace {

base::Result<void> showSpectrumOf(WeightsPanel& panel, const QString& name) {
    SONDE_TRY(panel.selectWeight(name));
    panel.showSpectrum();
    return {};
}

/// "std off".
base::Result<void> showColumn(WeightsPanel& panel, const QString& arguments) {
    const int column = models::WeightTableModel::columnOf(arguments.section(u' ', 0, 0));
    const QString state = arguments.section(u' ', 1);
    if (column < 0 || (state != u"on" && state != u"off"))
        return base::usageError("the table of weights has no such column", arguments.toStdString(), "column std off");
    panel.setColumnShown(column, state == u"on");
    return {};
}

/// Command `weights`: what comes first, and what it does with the rest.
base::Result<void> showWeights(QWidget& widget, const PanelHost& host, const QString& arguments) {
    using Done = base::Result<void>;
    static const QHash<QString, Done (*)(WeightsPanel&, const QString&)> commands{
        {"table", [](WeightsPanel& panel, const QString&) { return panel.setView(WeightsPanel::View::Table), Done(); }},
        {"layers",
         [](WeightsPanel& panel, const QString&) { return panel.setView(WeightsPanel::View::Layers), Done(); }},
        {"filter", [](WeightsPanel& panel, const QString& text) { return panel.setFilter(text), Done(); }},
        {"sort", [](WeightsPanel& panel, const QString& column) { return panel.sortBy(column); }},
        {"choose", [](WeightsPanel& panel, const QString& name) { return panel.selectWeight(name); }},
        {"spectrum", showSpectrumOf},
        {"column", showColumn},
    };
    host.show();
    const auto command = commands.find(arguments.section(u' ', 0, 0));
    if (command == commands.end())
        return base::usageError("the panel of weights has no such view", arguments.toStdString(),
                                "table, layers, spectrum, choose, sort, filter or column");
    return (*command)(static_cast<WeightsPanel&>(widget), arguments.section(u' ', 1).trimmed());
}

}  // namespace

PanelInfo weightsPanel() {
    PanelInfo info;
    info.id = QStringLiteral("weights");
    info.title = QStringLiteral("Weights");
    info.icon = QStringLiteral("table");
    info.area = PanelArea::Bottom;
    info.shortcut = QStringLiteral("Alt+Shift+T");
    info.factory = [](context::InspectorContext& context) -> Panel* {
        return new WeightsPanel(context.model(), context.navigation(), context::weightsOf(context), context.messages());
    };
    info.coming = PanelComing::OnDemand;
    info.size = {0, 240};
    info.join = [](QWidget& panel, const PanelHost& host) { static_cast<WeightsPanel&>(panel).join(host); };
    info.commands = {{"weights", "table|layers|spectrum NAME|choose NAME|sort COLUMN|filter TEXT|column COLUMN on|off",
                      "show the panel of weights like that", showWeights}};
    return info;
}

}  // namespace sonde::panels
