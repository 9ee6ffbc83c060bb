#include "ui/dialogs/export_options_view.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QVBoxLayout>

#include "ui/context/option_labels.h"
#include "ui/context/text.h"
#include "ui/theme/theme.h"

namespace sonde::dialogs {

namespace {

using context::text;
using exporting::ExportOption;

constexpr int kOptionLabelWidth = 150, kCaseLines = 3;

QString helpOf(const ExportOption& option) { return text(option.details.empty() ? option.help : option.details); }

/// "--option enable_fuse_grain": what a person on the command line writes.
QString tipOf(const ExportOption& option) {
    return context::withUnbrokenOptions(helpOf(option) + u'\n' +
                                        ExportOptionsView::tr("On the command line: %1").arg(text(option.spelled())));
}

void setColor(QLabel& label, theme::ColorRole role) {
    QPalette palette = label.palette();
    palette.setColor(QPalette::WindowText, theme::color(role));
    label.setPalette(palette);
}

}  // namespace

ExportOptionsView::ExportOptionsView(QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, &ExportOptionsView::refresh);
}

void ExportOptionsView::show(const exporting::ExportChoice& choice) {
    const bool isOther = !m_content || choice.format != m_choice.format;
    m_choice = choice;
    if (isOther) build();
    const QScopedValueRollback guard(m_showing, true);
    for (Row& row : m_rows) {
        row.wrong.clear();
        row.set(QString::fromStdString(row.option->text(m_choice.settings)));
    }
    refresh();
}

bool ExportOptionsView::isValid() const {
    return std::ranges::all_of(m_rows, [](const Row& row) { return row.wrong.isEmpty(); });
}

void ExportOptionsView::build() {
    delete m_content;
    m_rows.clear();
    m_content = new QWidget(this);
    auto* groups = new QVBoxLayout(m_content);
    groups->setContentsMargins(0, 0, 0, 0);
    groups->setSpacing(theme::kTight);
    QVBoxLayout* column = nullptr;
    std::string_view group;
    for (const ExportOption& option : exporting::exportOptions()) {
        if (!option.isFor(m_choice.format)) continue;
        if (!column || option.group != group) {
            auto* title = new QLabel(text(option.group), m_content);
            title->setFont(theme::Theme::instance().titleFont());
            groups->addWidget(title);
            auto* box = new QWidget(m_content);
            box->setAccessibleName(text(option.group));
            column = new QVBoxLayout(box);
            column->setContentsMargins(theme::kSmall, 0, theme::kSmall, theme::kMedium);
            column->setSpacing(theme::kTight);
            groups->addWidget(box);
            group = option.group;
        }
        m_rows.push_back(makeRow(option, *column));
    }
    groups->addStretch(1);
    layout()->addWidget(m_content);
    m_content->show();
    orderTabs();
}

/// New widgets come last in the order of Tab; these belong where the view is: behind what Tab reaches before it.
void ExportOptionsView::orderTabs() {
    const auto isReached = [](const QWidget& widget) { return (widget.focusPolicy() & Qt::TabFocus) != 0; };
    QWidget* before = previousInFocusChain();
    while (before != this && !isReached(*before)) before = before->previousInFocusChain();
    for (QWidget* widget : m_content->findChildren<QWidget*>()) {
        if (widget->window() != window() || !isReached(*widget)) continue;
        setTabOrder(before, widget);
        before = widget;
    }
}

ExportOptionsView::Row ExportOptionsView::makeRow(const ExportOption& option, QVBoxLayout& column) {
    Row row;
    row.option = &option;
    QWidget* control = option.isSwitch()         ? makeSwitch(row)
                       : !option.choices.empty() ? makeChoice(row)
                       : option.oneEach          ? makeLines(row)
                                                 : makeText(row);
    control->setObjectName(text(option.name));
    control->setToolTip(tipOf(option));
    control->setAccessibleDescription(helpOf(option));
    row.controls.insert(row.controls.begin(), control);
    if (option.isSwitch()) {
        column.addWidget(control);
    } else {
        control->setAccessibleName(text(option.label));
        auto* line = new QHBoxLayout;
        auto* label = new QLabel(text(option.label), m_content);
        // Of several lines with their button the lines; a focus proxy would be a second stop of Tab.
        label->setBuddy(option.oneEach ? control->findChild<QPlainTextEdit*>() : control);
        label->setMinimumWidth(kOptionLabelWidth);
        line->addWidget(label, 0, option.oneEach ? Qt::AlignTop : Qt::AlignVCenter);
        line->addWidget(control, 1);
        column.addLayout(line);
        row.controls.push_back(label);
    }
    row.description = new QLabel(m_content);
    row.description->setWordWrap(true);
    row.description->setFont(theme::Theme::instance().smallFont());
    row.description->setObjectName(text(option.name) + QStringLiteral(".description"));
    column.addWidget(row.description);
    return row;
}

QWidget* ExportOptionsView::makeSwitch(Row& row) {
    auto* box = new QCheckBox(text(row.option->label), m_content);
    connect(box, &QCheckBox::toggled, this, [this, option = row.option](bool on) {
        take(*option, on ? QStringLiteral("true") : QStringLiteral("false"));
    });
    row.set = [box](const QString& value) { box->setChecked(value == u"true"); };
    return box;
}

QWidget* ExportOptionsView::makeChoice(Row& row) {
    auto* box = new QComboBox(m_content);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    for (const exporting::OptionChoice& choice : row.option->choices) {
        const QString value = text(choice.value);
        box->addItem(value.isEmpty() ? text(choice.help) : value + QStringLiteral(" – ") + text(choice.help), value);
    }
    connect(box, &QComboBox::currentIndexChanged, this,
            [this, box, option = row.option] { take(*option, box->currentData().toString()); });
    row.set = [box](const QString& value) { box->setCurrentIndex(box->findData(value)); };
    return box;
}

QWidget* ExportOptionsView::makeText(Row& row) {
    auto* edit = new QLineEdit(m_content);
    if (row.option->isNumber()) edit->setPlaceholderText(QString::fromStdString(row.option->defaultText()));
    connect(edit, &QLineEdit::textChanged, this, [this, option = row.option](const QString& typed) {
        // An empty number is the default.
        take(*option, typed.isEmpty() ? QString::fromStdString(option->defaultText()) : typed);
    });
    row.set = [edit](const QString& value) {
        if (edit->text() != value) edit->setText(value);
    };
    return edit;
}

QWidget* ExportOptionsView::makeLines(Row& row) {
    auto* edit = new QPlainTextEdit(m_content);
    edit->setTabChangesFocus(true);
    edit->setFixedHeight(edit->fontMetrics().lineSpacing() * kCaseLines + 2 * theme::kSmall);
    connect(edit, &QPlainTextEdit::textChanged, this,
            [this, edit, option = row.option] { take(*option, edit->toPlainText()); });
    row.set = [edit](const QString& value) {
        if (edit->toPlainText() != value) edit->setPlainText(value);
    };
    auto* current = new QPushButton(tr("Add C&urrent Inputs"), m_content);
    current->setObjectName(QStringLiteral("addInputs"));
    current->setToolTip(tr("Add the inputs of the window as a test case"));
    connect(current, &QPushButton::clicked, this, [this, edit] {
        if (!m_inputData.isEmpty()) edit->appendPlainText(m_inputData);
    });
    row.controls.push_back(current);
    auto* both = new QWidget(m_content);
    auto* column = new QVBoxLayout(both);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(theme::kTight);
    column->addWidget(edit);
    column->addWidget(current, 0, Qt::AlignLeft);
    return both;
}

void ExportOptionsView::take(const ExportOption& option, const QString& typed) {
    if (m_showing) return;
    const bool wasValid = isValid();
    const auto row = std::ranges::find(m_rows, &option, &Row::option);
    const std::string before = option.text(m_choice.settings);
    const auto set = option.set(m_choice.settings, typed.toStdString());
    row->wrong = set ? QString() : QString::fromStdString(set.error().what);
    refresh();
    if (wasValid != isValid()) Q_EMIT validityChanged();
    if (set && option.text(m_choice.settings) != before) Q_EMIT changed();
}

void ExportOptionsView::refresh() {
    for (const Row& row : m_rows) {
        const bool works = row.option->hasEffect(m_choice.settings);
        for (QWidget* control : row.controls) control->setEnabled(works);
        describe(row);
    }
}

void ExportOptionsView::describe(const Row& row) const {
    QString description = helpOf(*row.option);
    const auto labelOf = [](std::string_view name) { return text(exporting::findExportOption(name)->label); };
    const auto overruled = row.option->overruled;
    const std::string_view by = overruled ? overruled(m_choice.settings) : std::string_view();
    if (!by.empty()) description += tr(" (has no effect with “%1”)").arg(labelOf(by));
    else if (!row.option->hasEffect(m_choice.settings))
        description += tr(" (needs “%1”)").arg(labelOf(row.option->needs));
    // What the label says already need not be said twice.
    const bool isNew = description != text(row.option->label);
    row.description->setText(context::withUnbrokenOptions(row.wrong.isEmpty() ? description : row.wrong));
    row.description->setVisible(isNew || !row.wrong.isEmpty());
    setColor(*row.description, row.wrong.isEmpty() ? theme::ColorRole::MutedText : theme::ColorRole::Error);
}

}  // namespace sonde::dialogs
