#include "ui/dialogs/report_dialog.h"

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/context/window_hint.h"
#include "ui/theme/theme.h"
#include "ui/widgets/progress_strip.h"
#include "ui/widgets/search_field.h"

namespace sonde::dialogs {

namespace {

QWidget* lineWithButton(QLineEdit* line, QPushButton* button) {
    auto* both = new QWidget;
    auto* row = new QHBoxLayout(both);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(theme::kSmall);
    row->addWidget(line, 1);
    row->addWidget(button);
    return both;
}

}  // namespace

ReportDialog::ReportDialog(const QString& path, const QStringList& modules, const QString& inputs, Take take,
                           QWidget* parent)
    : QDialog(parent), m_take(std::move(take)), m_path(new QLineEdit(path)), m_browse(new QPushButton(tr("&Browse…"))),
      m_filter(new widgets::SearchField), m_modules(new QListWidget), m_other(new QLineEdit),
      m_browseOther(new QPushButton(tr("B&rowse…"))), m_profile(new QCheckBox(tr("&Measure times"))),
      m_told(new QLabel), m_progress(new widgets::ProgressStrip), m_controls(new QWidget) {
    setWindowTitle(tr("Audit Report"));
    m_path->setObjectName(QStringLiteral("path"));
    m_path->setMinimumWidth(theme::kLarge * 20);
    m_path->setToolTip(tr("The ending gives the format: .html, which any browser shows, or .pdf"));
    m_filter->setNavigable(false);
    m_filter->setPlaceholderText(tr("Filter modules"));
    m_modules->setObjectName(QStringLiteral("modules"));
    m_modules->setAccessibleName(tr("Modules that are drawn from inside"));
    m_modules->setToolTip(tr("The whole graph is drawn in any case; these modules are drawn from inside as well"));
    for (const QString& qualname : modules) {
        auto* item = new QListWidgetItem(qualname, m_modules);
        item->setFlags(Qt::ItemIsUserCheckable | Qt::ItemIsEnabled | Qt::ItemIsSelectable);
        item->setCheckState(Qt::Unchecked);
    }
    m_other->setObjectName(QStringLiteral("other"));
    m_other->setPlaceholderText(tr("none: a file, or zoo:NAME"));
    m_other->setToolTip(tr("Another model: the report says how far this one is from it"));
    m_profile->setObjectName(QStringLiteral("profile"));
    m_profile->setToolTip(tr("The model runs four times more; times are others in each report"));
    auto* values = new QLabel(inputs);
    values->setObjectName(QStringLiteral("inputs"));
    values->setWordWrap(true);
    values->setTextFormat(Qt::PlainText);
    m_told->setObjectName(QStringLiteral("told"));
    m_told->setWordWrap(true);
    m_told->setTextFormat(Qt::PlainText);
    m_told->setTextInteractionFlags(Qt::TextSelectableByMouse);

    auto* form = new QFormLayout(m_controls);
    form->setContentsMargins(0, 0, 0, 0);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    form->addRow(tr("&File"), lineWithButton(m_path, m_browse));
    auto* list = new QWidget;
    auto* column = new QVBoxLayout(list);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(theme::kTight);
    column->addWidget(m_filter);
    column->addWidget(m_modules, 1);
    if (!modules.isEmpty()) form->addRow(tr("Modules"), list);
    else list->setParent(this), list->hide();
    form->addRow(tr("&Compare with"), lineWithButton(m_other, m_browseOther));
    form->addRow(tr("Values"), values);
    form->addRow(QString(), m_profile);
    if (auto* label = qobject_cast<QLabel*>(form->labelForField(m_path->parentWidget()))) label->setBuddy(m_path);
    if (auto* label = qobject_cast<QLabel*>(form->labelForField(m_other->parentWidget()))) label->setBuddy(m_other);

    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    m_write = buttons->addButton(tr("&Write Report"), QDialogButtonBox::ActionRole);
    m_write->setObjectName(QStringLiteral("write"));
    m_write->setDefault(true);
    for (QPushButton* button : {m_browse, m_browseOther}) button->setAutoDefault(false);  // Enter writes
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(theme::kLarge, theme::kLarge, theme::kLarge, theme::kLarge);
    all->setSpacing(theme::kSmall);
    all->addWidget(m_controls, 1);
    all->addWidget(m_told);
    all->addWidget(m_progress);
    all->addWidget(buttons);
    resize(620, modules.isEmpty() ? 260 : 460);

    connect(m_browse, &QPushButton::clicked, this, &ReportDialog::chooseFile);
    connect(m_browseOther, &QPushButton::clicked, this, &ReportDialog::chooseOther);
    connect(m_filter, &widgets::SearchField::textChanged, this, &ReportDialog::filterModules);
    connect(m_path, &QLineEdit::textEdited, this, &ReportDialog::refresh);
    connect(buttons, &QDialogButtonBox::rejected, this, &ReportDialog::reject);
    connect(m_write, &QPushButton::clicked, this, [this] { write(); });
    connect(&m_job, &context::Job::progressed, m_progress, [this](const base::Progress& now) {
        m_progress->setProgress(QString::fromStdString(now.what), static_cast<qint64>(now.done),
                                static_cast<qint64>(now.total));
    });
    connect(&m_job, &context::Job::finished, m_progress, &widgets::ProgressStrip::finish);
    connect(m_progress, &widgets::ProgressStrip::cancelRequested, &m_job, &context::Job::cancel);
    refresh();
}

ReportChoice ReportDialog::choice() const {
    ReportChoice choice{m_path->text().trimmed(), {}, m_other->text().trimmed(), m_profile->isChecked()};
    for (int i = 0; i < m_modules->count(); ++i)
        if (m_modules->item(i)->checkState() == Qt::Checked) choice.modules << m_modules->item(i)->text();
    return choice;
}

void ReportDialog::setChoice(const ReportChoice& choice) {
    m_path->setText(choice.path);
    m_other->setText(choice.other);
    m_profile->setChecked(choice.measuresTimes);
    for (int i = 0; i < m_modules->count(); ++i) {
        QListWidgetItem* const item = m_modules->item(i);
        item->setCheckState(choice.modules.contains(item->text()) ? Qt::Checked : Qt::Unchecked);
    }
    refresh();
}

QString ReportDialog::told() const { return m_told->text(); }

void ReportDialog::tell(const QString& text, bool isError) {
    QPalette palette = m_told->palette();
    palette.setColor(QPalette::WindowText, theme::color(isError ? theme::ColorRole::Error : theme::ColorRole::Text));
    m_told->setPalette(palette);
    m_told->setText(text);
}

void ReportDialog::refresh() {
    const QString suffix = QFileInfo(m_path->text().trimmed()).suffix().toLower();
    const bool isFormat = suffix == QLatin1String("html") || suffix == QLatin1String("pdf");
    m_write->setEnabled(isFormat && !isBusy());
    m_controls->setEnabled(!isBusy());
    if (!isBusy() && !isFormat) tell(tr("The name of the file must end in .html or .pdf"), false);
    else if (!isBusy()) tell({}, false);
}

void ReportDialog::filterModules(const QString& text) {
    for (int i = 0; i < m_modules->count(); ++i)
        m_modules->item(i)->setHidden(!m_modules->item(i)->text().contains(text.trimmed(), Qt::CaseInsensitive));
}

void ReportDialog::chooseFile() {
    auto* dialog = new QFileDialog(this, tr("Audit Report"), m_path->text());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setNameFilters({tr("HTML (*.html)"), tr("PDF (*.pdf)")});
    const bool isPdf = m_path->text().endsWith(QLatin1String(".pdf"));
    if (isPdf) dialog->selectNameFilter(dialog->nameFilters().last());
    dialog->setDefaultSuffix(isPdf ? QStringLiteral("pdf") : QStringLiteral("html"));
    connect(dialog, &QFileDialog::filterSelected, dialog, [dialog](const QString& filter) {
        dialog->setDefaultSuffix(filter.contains(u"pdf") ? QStringLiteral("pdf") : QStringLiteral("html"));
    });
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& path) {
        m_path->setText(path);
        m_agreed = path;
        refresh();
    });
    dialog->open();
}

void ReportDialog::chooseOther() {
    auto* dialog = new QFileDialog(this, tr("Compare with Model"), QFileInfo(m_path->text()).path());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, m_other, &QLineEdit::setText);
    dialog->open();
}

void ReportDialog::write(bool replace) {
    if (isBusy()) return;
    const ReportChoice chosen = choice();
    if (!replace && QFileInfo::exists(chosen.path) && m_agreed != chosen.path) {
        m_agreed = chosen.path;
        return tell(tr("%1 exists. Write again to replace it.").arg(QFileInfo(chosen.path).fileName()), true);
    }
    base::Result<Work> work = m_take(chosen);
    if (!work) return finish(chosen.path, work.error());
    m_progress->start(tr("Writing the report"), 0);
    m_job.start(std::move(*work), [this, path = chosen.path](const base::Result<void>& done) { finish(path, done); });
    tell(tr("Writing %1 …").arg(QFileInfo(chosen.path).fileName()), false);
    m_write->setEnabled(false);
    m_controls->setEnabled(false);
}

void ReportDialog::finish(const QString& path, const base::Result<void>& done) {
    m_progress->finish();
    m_controls->setEnabled(true);
    m_write->setEnabled(true);
    if (done) {
        m_agreed = path;
        tell(tr("Written: %1").arg(path), false);
        Q_EMIT written(path);
    } else {
        const bool isCancelled = done.error().kind == base::ErrorKind::Cancelled;
        tell(isCancelled ? tr("Cancelled; nothing was written") : context::windowText(done.error()), !isCancelled);
        Q_EMIT failed(done.error());
    }
}

void ReportDialog::reject() {
    m_job.abandon();
    QDialog::reject();
}

}  // namespace sonde::dialogs
