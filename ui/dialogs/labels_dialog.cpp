#include "ui/dialogs/labels_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/theme/icon.h"
#include "ui/theme/theme.h"
#include "ui/widgets/tool_button.h"

namespace sonde::dialogs {

using context::LabelRule;
using context::LabelRules;

namespace {

constexpr int kListWidth = 170, kLinesHeight = 96;

QString fieldsText() {
    QStringList rows;
    for (const context::LabelField& field : context::labelFields())
        rows << QStringLiteral("<code>{%1}</code>&nbsp;%2")
                    .arg(field.name, field.description.toHtmlEscaped().replace(u' ', QStringLiteral("&nbsp;")));
    return rows.join(QStringLiteral(" &nbsp; "));
}

}  // namespace

LabelsDialog::LabelsDialog(LabelRules rules, Example example, QWidget* parent)
    : QDialog(parent), m_rules(std::move(rules)), m_example(std::move(example)), m_presets(new QComboBox(this)),
      m_list(new QListWidget(this)), m_operators(new QLineEdit(this)), m_lines(new QPlainTextEdit(this)),
      m_exampleText(new QLabel(this)), m_problem(new QLabel(this)) {
    setWindowTitle(tr("Node Labels"));
    m_presets->setObjectName(QStringLiteral("presets"));
    m_presets->setAccessibleName(tr("Preset"));
    for (const context::LabelPreset& preset : context::labelPresets()) m_presets->addItem(preset.title);
    m_presets->addItem(tr("Custom"));
    m_list->setAccessibleName(tr("Rules"));
    m_list->setFixedWidth(kListWidth);
    m_operators->setObjectName(QStringLiteral("operators"));
    m_operators->setPlaceholderText(tr("Conv Gemm; * for all others"));
    m_operators->setToolTip(tr("Operator names separated by spaces; * matches all operators without a rule"));
    m_lines->setObjectName(QStringLiteral("lines"));
    m_lines->setTabChangesFocus(true);
    m_lines->setFixedHeight(kLinesHeight);
    m_lines->setPlaceholderText(QStringLiteral("{op}\n{qualname}\n{shape}"));
    m_lines->setToolTip(tr("One line of text each. Put fields in braces. The first line is the title"));
    m_exampleText->setObjectName(QStringLiteral("example"));
    m_exampleText->setTextFormat(Qt::RichText);
    m_exampleText->setFrameShape(QFrame::StyledPanel);
    m_exampleText->setMargin(theme::kSmall);
    m_exampleText->setAccessibleName(tr("Example"));
    m_problem->setObjectName(QStringLiteral("problem"));
    m_problem->setWordWrap(true);
    auto* fields = new QLabel(fieldsText(), this);
    fields->setWordWrap(true);
    fields->setTextFormat(Qt::RichText);

    auto* add = widgets::makeToolButton(QStringLiteral("add"), tr("Add a rule"), this);
    auto* remove = widgets::makeToolButton(QStringLiteral("remove"), tr("Remove this rule"), this);
    add->setObjectName(QStringLiteral("addRule"));
    remove->setObjectName(QStringLiteral("removeRule"));
    auto* tools = new QHBoxLayout;
    tools->addWidget(add);
    tools->addWidget(remove);
    tools->addStretch(1);
    auto* left = new QVBoxLayout;
    left->addWidget(m_list, 1);
    left->addLayout(tools);
    auto* form = new QFormLayout;
    form->addRow(tr("&Operators"), m_operators);
    form->addRow(tr("&Lines"), m_lines);
    form->addRow(tr("Example"), m_exampleText);
    form->addRow(QString(), m_problem);
    auto* middle = new QHBoxLayout;
    middle->addLayout(left);
    middle->addLayout(form, 1);
    auto* top = new QFormLayout;
    top->addRow(tr("&Preset"), m_presets);
    auto* buttons =
        new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Apply | QDialogButtonBox::Cancel, this);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(theme::kLarge, theme::kLarge, theme::kLarge, theme::kLarge);
    column->addLayout(top);
    column->addLayout(middle, 1);
    column->addWidget(fields);
    column->addWidget(buttons);
    resize(640, 520);

    connect(m_presets, &QComboBox::activated, this, [this](int index) {
        if (index >= static_cast<int>(context::labelPresets().size())) return;
        m_rules = context::labelPresets()[static_cast<std::size_t>(index)].rules;
        fillList(0);
    });
    connect(m_list, &QListWidget::currentRowChanged, this, &LabelsDialog::showRule);
    connect(m_operators, &QLineEdit::textChanged, this, &LabelsDialog::takeRule);
    connect(m_lines, &QPlainTextEdit::textChanged, this, &LabelsDialog::takeRule);
    connect(add, &QToolButton::clicked, this, [this] {
        const bool first = m_rules.empty();
        m_rules.push_back(
            {first ? QStringLiteral("*") : QString(), {QStringLiteral("{op}"), QStringLiteral("{qualname}")}});
        fillList(static_cast<int>(m_rules.size()) - 1);
        m_operators->setFocus();
    });
    connect(remove, &QToolButton::clicked, this, [this] {
        const int row = m_list->currentRow();
        if (row < 0) return;
        m_rules.erase(m_rules.begin() + row);
        fillList(std::max(0, row - 1));
    });
    connect(buttons, &QDialogButtonBox::accepted, this, [this] {
        Q_EMIT chosen(m_rules);
        accept();
    });
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(buttons->button(QDialogButtonBox::Apply), &QPushButton::clicked, this, [this] { Q_EMIT chosen(m_rules); });
    fillList(0);
}

void LabelsDialog::fillList(int current) {
    {
        const QScopedValueRollback guard(m_filling, true);
        m_list->clear();
        for (const LabelRule& rule : m_rules)
            m_list->addItem(rule.operators.isEmpty() ? tr("(no operator)") : rule.operators);
        if (m_rules.empty()) m_list->addItem(tr("All: default"));
        m_list->setCurrentRow(std::min(current, m_list->count() - 1));
    }
    showRule();
}

void LabelsDialog::showRule() {
    if (m_filling) return;
    {
        const QScopedValueRollback guard(m_filling, true);
        const int row = m_list->currentRow();
        const bool there = row >= 0 && row < static_cast<int>(m_rules.size());
        m_operators->setEnabled(there);
        m_lines->setEnabled(there);
        m_operators->setText(there ? m_rules[static_cast<std::size_t>(row)].operators : QString());
        m_lines->setPlainText(there ? m_rules[static_cast<std::size_t>(row)].lines.join(u'\n') : QString());
    }
    showExample();
}

void LabelsDialog::takeRule() {
    const int row = m_list->currentRow();
    if (m_filling || row < 0 || row >= static_cast<int>(m_rules.size())) return;
    LabelRule& rule = m_rules[static_cast<std::size_t>(row)];
    rule.operators = m_operators->text().simplified();
    rule.lines = m_lines->toPlainText().split(u'\n', Qt::SkipEmptyParts);
    m_list->item(row)->setText(rule.operators.isEmpty() ? tr("(no operator)") : rule.operators);
    showExample();
}

void LabelsDialog::showExample() {
    const auto& presets = context::labelPresets();
    const auto same = std::find_if(presets.begin(), presets.end(),
                                   [this](const context::LabelPreset& preset) { return preset.rules == m_rules; });
    m_presets->setCurrentIndex(static_cast<int>(same - presets.begin()));
    QStringList lines = m_example ? m_example(m_rules) : QStringList();
    for (QString& line : lines) line = line.left(80).toHtmlEscaped();
    if (!lines.isEmpty()) lines.front() = QStringLiteral("<b>%1</b>").arg(lines.front());
    m_exampleText->setText(lines.isEmpty() ? tr("(no model is open)") : lines.join(QStringLiteral("<br>")));
    const QStringList unknown = context::unknownFields(m_rules);
    m_problem->setText(unknown.isEmpty()
                           ? QString()
                           : tr("Unknown field {%1}; it stays empty").arg(unknown.join(QStringLiteral("}, {"))));
    QPalette palette = m_problem->palette();
    palette.setColor(QPalette::WindowText, theme::color(theme::ColorRole::Warning));
    m_problem->setPalette(palette);
}

}  // namespace sonde::dialogs
