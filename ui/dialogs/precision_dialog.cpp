#include "ui/dialogs/precision_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QVBoxLayout>

#include "ui/theme/theme.h"

namespace sonde::dialogs {

namespace {

enum WhereToRound { kEverywhere, kAtQuery, kAtSelection };

QHBoxLayout* belowChoice() {
    auto* row = new QHBoxLayout;
    row->setContentsMargins(theme::kLarge, 0, 0, theme::kSmall);
    row->setSpacing(theme::kSmall);
    return row;
}

}  // namespace

PrecisionDialog::PrecisionDialog(const QString& selected, const QString& folder, QWidget* parent)
    : QDialog(parent), m_selected(selected), m_folder(folder),
      m_lower(new QRadioButton(tr("&Round to a lower precision"), this)),
      m_other(new QRadioButton(tr("Compare with a &quantised model"), this)), m_type(new QComboBox(this)),
      m_where(new QComboBox(this)), m_query(new QLineEdit(this)),
      m_perChannel(new QCheckBox(tr("A scale for each output &channel of a weight (int8)"), this)),
      m_path(new QLineEdit(this)), m_browse(new QPushButton(tr("&Browse\u2026"), this)) {
    setWindowTitle(tr("Precision"));
    m_lower->setObjectName(QStringLiteral("precisionLower"));
    m_other->setObjectName(QStringLiteral("precisionQuantised"));
    m_type->setObjectName(QStringLiteral("precisionType"));
    m_type->setAccessibleName(tr("Type to round to"));
    m_where->setObjectName(QStringLiteral("precisionWhere"));
    m_where->setAccessibleName(tr("Operations that round"));
    m_query->setObjectName(QStringLiteral("precisionQuery"));
    m_query->setAccessibleName(tr("Query of operations, as in the search"));
    m_query->setPlaceholderText(QStringLiteral("op:Conv, layer1"));
    m_perChannel->setObjectName(QStringLiteral("precisionPerChannel"));
    m_path->setObjectName(QStringLiteral("precisionPath"));
    m_path->setAccessibleName(tr("File of the quantised model"));
    for (const char* type : {"float16", "bfloat16", "int8"}) m_type->addItem(QLatin1String(type));
    m_where->addItem(tr("at all operations"));
    m_where->addItem(tr("at those that a query finds"));
    if (!m_selected.isEmpty()) {
        m_where->addItem(tr("at the selected operations"));
        m_where->setCurrentIndex(kAtSelection);
    }
    m_lower->setChecked(true);
    build();
    refresh();
}

void PrecisionDialog::build() {
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    m_start = buttons->addButton(tr("&Measure"), QDialogButtonBox::AcceptRole);
    m_start->setObjectName(QStringLiteral("startPrecision"));
    m_start->setDefault(true);
    m_browse->setAutoDefault(false);
    auto* what = new QLabel(tr("Lists how far each value is from that of the plain run, on the same inputs."), this);
    what->setWordWrap(true);
    auto* column = new QVBoxLayout(this);
    column->setSpacing(theme::kSmall);
    column->addWidget(what);
    column->addWidget(m_lower);
    QHBoxLayout* lower = belowChoice();
    lower->addWidget(m_type);
    lower->addWidget(m_where);
    lower->addWidget(m_query, 1);
    column->addLayout(lower);
    QHBoxLayout* channels = belowChoice();
    channels->addWidget(m_perChannel);
    column->addLayout(channels);
    column->addWidget(m_other);
    QHBoxLayout* file = belowChoice();
    file->addWidget(m_path, 1);
    file->addWidget(m_browse);
    column->addLayout(file);
    column->addStretch(1);
    column->addWidget(buttons);
    setMinimumWidth(theme::kLarge * 22);
    connect(buttons, &QDialogButtonBox::accepted, this, [this] {
        Q_EMIT chosen(wanted());
        accept();
    });
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_browse, &QPushButton::clicked, this, &PrecisionDialog::browse);
    for (QLineEdit* line : {m_query, m_path}) connect(line, &QLineEdit::textChanged, this, &PrecisionDialog::refresh);
    for (QComboBox* box : {m_type, m_where})
        connect(box, &QComboBox::currentIndexChanged, this, &PrecisionDialog::refresh);
    for (QRadioButton* choice : {m_lower, m_other})
        connect(choice, &QRadioButton::toggled, this, &PrecisionDialog::refresh);
}

void PrecisionDialog::refresh() {
    const bool isLower = m_lower->isChecked(), byQuery = m_where->currentIndex() == kAtQuery;
    for (QComboBox* box : {m_type, m_where}) box->setEnabled(isLower);
    m_query->setEnabled(isLower && byQuery);
    m_perChannel->setEnabled(isLower && m_type->currentText() == u"int8");
    m_path->setEnabled(!isLower);
    m_browse->setEnabled(!isLower);
    const bool isFilled =
        !isLower ? !m_path->text().trimmed().isEmpty() : !byQuery || !m_query->text().trimmed().isEmpty();
    m_start->setEnabled(isFilled);
}

void PrecisionDialog::browse() {
    auto* dialog = new QFileDialog(this, tr("Quantised Model"), m_folder);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilters({tr("Models (*.onnx *.pt)"), tr("All files (*)")});
    connect(dialog, &QFileDialog::fileSelected, m_path, &QLineEdit::setText);
    dialog->open();
}

PrecisionDialog::Wanted PrecisionDialog::wanted() const {
    if (m_other->isChecked()) return {{}, {}, false, m_path->text().trimmed()};
    Wanted wanted{m_type->currentText(), {}, m_perChannel->isEnabled() && m_perChannel->isChecked(), {}};
    if (m_where->currentIndex() == kAtQuery) wanted.queries = QStringList{m_query->text().trimmed()};
    if (m_where->currentIndex() == kAtSelection) wanted.queries = QStringList{m_selected};
    return wanted;
}

}  // namespace sonde::dialogs
