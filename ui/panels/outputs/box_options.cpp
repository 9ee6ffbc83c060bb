#include "ui/panels/outputs/box_options.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QScopedValueRollback>

#include "ui/theme/theme.h"
#include "ui/widgets/flow_layout.h"

namespace sonde::panels {

namespace outputs = session::outputs;
using outputs::BoxLayout;

namespace {

/// What is found has no word of its own.
QString sourceTextOf(const std::string& source) {
    return source.empty() ? BoxOptions::tr("auto") : QString::fromStdString(source);
}
std::string sourceOf(const QComboBox& box) {
    const QString text = box.currentText().trimmed();
    return text == BoxOptions::tr("auto") ? std::string() : text.toStdString();
}

QComboBox* sourceBox(const QString& name, const QString& toolTip, QWidget* parent) {
    auto* box = new QComboBox(parent);
    box->setEditable(true);
    box->setInsertPolicy(QComboBox::NoInsert);
    box->setAccessibleName(name);
    box->setToolTip(toolTip);
    return box;
}

int indexOf(std::optional<bool> chosen) { return !chosen ? 0 : *chosen ? 1 : 2; }
std::optional<bool> chosenOf(const QComboBox& box) {
    return box.currentIndex() <= 0 ? std::nullopt : std::optional(box.currentIndex() == 1);
}

}  // namespace

BoxOptions::BoxOptions(QWidget* parent)
    : QWidget(parent), m_corners(new QComboBox(this)), m_unit(new QComboBox(this)), m_direction(new QComboBox(this)),
      m_score(sourceBox(tr("Score"), tr("Where scores are: a column (4), an output, or none"), this)),
      m_classes(sourceBox(
          tr("Class"),
          tr("Where classes are: a column (5), columns with a score for each class (5+), an output, or none"), this)),
      m_threshold(new QDoubleSpinBox(this)) {
    using Corners = BoxLayout::Corners;
    for (const Corners corners : {Corners::Found, Corners::XyXy, Corners::YxYx, Corners::XyWh, Corners::CxCyWh})
        m_corners->addItem(
            QString::fromUtf8(outputs::name(corners).data(), static_cast<qsizetype>(outputs::name(corners).size())),
            static_cast<int>(corners));
    m_corners->setObjectName(QStringLiteral("boxCorners"));
    m_corners->setAccessibleName(tr("Corners"));
    m_corners->setToolTip(
        tr("What the four numbers of a box are: two corners, a corner and the size, or the centre and the size"));
    m_unit->addItems({tr("auto"), tr("normalised"), tr("pixels")});
    m_unit->setAccessibleName(tr("Unit of the corners"));
    m_unit->setToolTip(tr("Normalised: parts of the width and height of the picture"));
    m_direction->addItems({tr("auto"), tr("columns"), tr("rows")});
    m_direction->setAccessibleName(tr("Boxes are rows or columns"));
    m_direction->setToolTip(tr("Whether each row or each column of the output is a box"));
    m_threshold->setRange(-1e6, 1e6);
    m_threshold->setSingleStep(0.05);
    m_threshold->setDecimals(3);
    m_threshold->setKeyboardTracking(false);
    m_threshold->setObjectName(QStringLiteral("boxThreshold"));
    m_threshold->setAccessibleName(tr("Threshold"));
    m_threshold->setToolTip(tr("Boxes with a lower score are not shown"));
    m_score->setObjectName(QStringLiteral("boxScore"));
    m_classes->setObjectName(QStringLiteral("boxClasses"));
    auto* flow = new widgets::FlowLayout(this, theme::kSmall, theme::kTight);
    flow->setContentsMargins(theme::kSmall, 0, theme::kSmall, theme::kTight);
    const auto add = [&](const QString& title, QWidget* control) {
        auto* pair = new QWidget(this);
        auto* row = new QHBoxLayout(pair);
        row->setContentsMargins(0, 0, 0, 0);
        row->setSpacing(theme::kTight);
        row->addWidget(new QLabel(title));
        row->addWidget(control);
        flow->addWidget(pair);
    };
    add(tr("Corners"), m_corners);
    add(tr("Unit"), m_unit);
    add(tr("Boxes are"), m_direction);
    add(tr("Score"), m_score);
    add(tr("Class"), m_classes);
    add(tr("Threshold"), m_threshold);
    const auto tell = [this] {
        if (!m_isShowing && !(layout() == m_shown)) Q_EMIT changed();
    };
    for (QComboBox* box : {m_corners, m_unit, m_direction}) connect(box, &QComboBox::currentIndexChanged, this, tell);
    for (QComboBox* box : {m_score, m_classes}) {
        connect(box, &QComboBox::activated, this, tell);
        connect(box->lineEdit(), &QLineEdit::editingFinished, this, tell);
    }
    connect(m_threshold, &QDoubleSpinBox::valueChanged, this, tell);
}

void BoxOptions::show(const BoxLayout& layout, const QStringList& outputs) {
    const QScopedValueRollback guard(m_isShowing, true);
    m_shown = layout;
    m_corners->setCurrentIndex(m_corners->findData(static_cast<int>(layout.corners)));
    m_unit->setCurrentIndex(indexOf(layout.isNormalised));
    m_direction->setCurrentIndex(indexOf(layout.isTransposed));
    for (QComboBox* box : {m_score, m_classes}) {
        const std::string& source = box == m_score ? layout.score : layout.classes;
        if (box->lineEdit()->hasFocus() && box->lineEdit()->isModified()) continue;  // somebody types
        box->clear();
        box->addItems(QStringList{tr("auto"), QStringLiteral("none"), QStringLiteral("4"), QStringLiteral("5")} +
                      outputs);
        box->setCurrentText(sourceTextOf(source));
    }
    m_threshold->setValue(layout.threshold);
}

BoxLayout BoxOptions::layout() const {
    BoxLayout layout = m_shown;
    layout.corners = static_cast<BoxLayout::Corners>(m_corners->currentData().toInt());
    layout.isNormalised = chosenOf(*m_unit);
    layout.isTransposed = chosenOf(*m_direction);
    layout.score = sourceOf(*m_score);
    layout.classes = sourceOf(*m_classes);
    layout.threshold = m_threshold->value();
    return layout;
}

}  // namespace sonde::panels
