#include "ui/panels/inputs/input_part.h"

#include <QHBoxLayout>
#include <QLabel>

#include "ui/theme/theme.h"
#include "ui/widgets/number_field.h"

namespace sonde::panels {

QWidget* labelled(const QString& label, widgets::NumberField* field) {
    auto* pair = new QWidget;
    auto* row = new QHBoxLayout(pair);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(theme::kTight);
    row->addWidget(new QLabel(label));
    row->addWidget(field);
    field->setFixedWidth(field->minimumSizeHint().width());
    return pair;
}

}  // namespace sonde::panels
