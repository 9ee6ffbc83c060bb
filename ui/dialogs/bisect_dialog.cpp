#include "ui/dialogs/bisect_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QVBoxLayout>

#include "ui/context/window_hint.h"
#include "ui/dialogs/engine_choice.h"
#include "ui/theme/theme.h"

namespace sonde::dialogs {

using Kind = context::Bisection::Wanted::Kind;

namespace {

/// Below a choice, where what belongs to it begins.
QHBoxLayout* indented() {
    auto* row = new QHBoxLayout;
    row->setContentsMargins(theme::kLarge, 0, 0, theme::kSmall);
    row->setSpacing(theme::kSmall);
    return row;
}

}  // namespace

BisectDialog::BisectDialog(const QString& selected, const QString& folder, QWidget* parent)
    : QDialog(parent), m_selected(selected), m_folder(folder),
      m_file(new QRadioButton(tr("Another &model, or reference values"), this)),
      m_lower(new QRadioButton(tr("The same model at a &lower precision"), this)),
      m_other(new QRadioButton(tr("The same model in &ONNX Runtime"), this)), m_path(new QLineEdit(this)),
      m_browse(new QPushButton(tr("&Browse\u2026"), this)), m_type(new QComboBox(this)), m_where(new QComboBox(this)),
      m_engine(new EngineChoice(this)), m_problem(new QLabel(this)) {
    setWindowTitle(tr("Bisect"));
    m_file->setObjectName(QStringLiteral("bisectFile"));
    m_lower->setObjectName(QStringLiteral("bisectPrecision"));
    m_other->setObjectName(QStringLiteral("bisectEngine"));
    m_path->setObjectName(QStringLiteral("bisectPath"));
    m_path->setAccessibleName(tr("File of the other model, or of reference values"));
    m_path->setPlaceholderText(tr("other.onnx, reference.npz"));
    m_type->setObjectName(QStringLiteral("bisectType"));
    m_type->setAccessibleName(tr("Type to round to"));
    m_where->setObjectName(QStringLiteral("bisectWhere"));
    m_where->setAccessibleName(tr("Operations that round"));
    for (const char* type : {"float16", "bfloat16", "int8"}) m_type->addItem(QLatin1String(type));
    m_where->addItem(tr("at all operations"));
    if (!m_selected.isEmpty()) m_where->addItem(tr("at the selected operations"));
    m_file->setChecked(true);
    build();
    refresh();
}

void BisectDialog::build() {
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    m_start = buttons->addButton(tr("B&isect"), QDialogButtonBox::AcceptRole);
    m_start->setObjectName(QStringLiteral("startBisect"));
    m_start->setDefault(true);
    m_browse->setAutoDefault(false);
    m_problem->setWordWrap(true);
    auto* what =
        new QLabel(tr("Finds the smallest part of this model in which the other one gives other values."), this);
    what->setWordWrap(true);
    auto* column = new QVBoxLayout(this);
    column->setSpacing(theme::kSmall);
    column->addWidget(what);
    column->addWidget(m_file);
    QHBoxLayout* file = indented();
    file->addWidget(m_path, 1);
    file->addWidget(m_browse);
    column->addLayout(file);
    column->addWidget(m_lower);
    QHBoxLayout* lower = indented();
    lower->addWidget(m_type);
    lower->addWidget(m_where);
    lower->addStretch(1);
    column->addLayout(lower);
    column->addWidget(m_other);
    QHBoxLayout* engine = indented();
    engine->addWidget(m_engine, 1);
    column->addLayout(engine);
    column->addStretch(1);
    column->addWidget(m_problem);
    column->addWidget(buttons);
    setMinimumWidth(theme::kLarge * 22);
    connect(buttons, &QDialogButtonBox::accepted, this, &BisectDialog::finish);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_browse, &QPushButton::clicked, this, &BisectDialog::browse);
    connect(m_path, &QLineEdit::textChanged, this, &BisectDialog::refresh);
    connect(m_engine, &EngineChoice::changed, this, &BisectDialog::refresh);
    for (QRadioButton* choice : {m_file, m_lower, m_other})
        connect(choice, &QRadioButton::toggled, this, &BisectDialog::refresh);
}

void BisectDialog::refresh() {
    if (!m_start) return;
    for (QWidget* widget : std::initializer_list<QWidget*>{m_path, m_browse}) widget->setEnabled(m_file->isChecked());
    for (QComboBox* box : {m_type, m_where}) box->setEnabled(m_lower->isChecked());
    m_engine->setEnabled(m_other->isChecked());
    m_start->setEnabled(m_lower->isChecked() || (m_file->isChecked() && !m_path->text().trimmed().isEmpty()) ||
                        (m_other->isChecked() && m_engine->isReady()));
    m_problem->hide();
}

void BisectDialog::browse() {
    auto* dialog = new QFileDialog(this, tr("Compare with"), m_folder);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilters({tr("Models and reference values (*.onnx *.pt *.npz)"), tr("All files (*)")});
    connect(dialog, &QFileDialog::fileSelected, m_path, &QLineEdit::setText);
    dialog->open();
}

BisectDialog::Wanted BisectDialog::wanted() const {
    if (m_file->isChecked()) return {Kind::File, m_path->text().trimmed(), {}, {}};
    if (m_other->isChecked()) return {Kind::Engine, m_engine->path(), {}, {}};
    Wanted wanted{Kind::Precision, {}, m_type->currentText(), {}};
    if (m_where->currentIndex() == 1) wanted.queries = QStringList{m_selected};
    return wanted;
}

void BisectDialog::choose(const Wanted& wanted) {
    QRadioButton* const choice = wanted.kind == Kind::File ? m_file : wanted.kind == Kind::Engine ? m_other : m_lower;
    choice->setChecked(true);
    if (wanted.kind == Kind::File) m_path->setText(wanted.path);
    if (wanted.kind == Kind::Engine) m_engine->setPath(wanted.path);
    if (wanted.kind == Kind::Precision) m_type->setCurrentText(wanted.type);
}

void BisectDialog::finish() {
    if (m_other->isChecked())
        if (const auto agreed = m_engine->agree(); !agreed) {
            m_problem->setText(context::windowText(agreed.error()));
            m_problem->show();
            return;
        }
    Q_EMIT chosen(wanted());
    accept();
}

}  // namespace sonde::dialogs
