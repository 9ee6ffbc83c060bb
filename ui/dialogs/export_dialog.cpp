#include "ui/dialogs/export_dialog.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QSplitter>
#include <QStackedWidget>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

#include "ui/context/count_text.h"
#include "ui/context/option_labels.h"
#include "ui/context/text.h"
#include "ui/context/window_hint.h"
#include "ui/dialogs/export_options_view.h"
#include "ui/dialogs/export_preview_table.h"
#include "ui/theme/theme.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/progress_strip.h"
#include "ui/widgets/tall_area.h"

namespace sonde::dialogs {

using context::text;
using exporting::ExportChoice;
using exporting::ExportFormat;

namespace {

constexpr int kPreviewDelayMs = 300, kOptionsHeight = 300, kPreviewHeight = 230;

QString capitalised(const std::string& words) {
    QString description = QString::fromStdString(words);
    if (!description.isEmpty()) description[0] = description[0].toUpper();
    return description;
}

}  // namespace

ExportDialog::ExportDialog(session::Session& session, QString folder, QWidget* parent)
    : QDialog(parent), m_exports(session), m_folder(std::move(folder)), m_delay(new QTimer(this)) {
    setWindowTitle(tr("Export Model"));
    m_delay->setSingleShot(true);
    m_delay->setInterval(kPreviewDelayMs);
    // Made in the order in which they are seen, which Tab follows.
    QWidget* const head = makeHead();
    m_impossible = new widgets::EmptyState(QStringLiteral("export"), {}, {}, {}, this);
    m_impossible->setObjectName(QStringLiteral("impossible"));
    m_stack = new QStackedWidget(this);
    m_stack->addWidget(makeParts());
    m_stack->addWidget(m_impossible);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(theme::kMedium, theme::kMedium, theme::kMedium, theme::kMedium);
    column->addWidget(head);
    column->addWidget(m_stack, 1);
    column->addWidget(m_fileRow = makeFileRow());
    column->addWidget(makeButtons());
    connectParts();
    setChoice(m_exports.choice());
    m_format->setFocus();
    const QSize wanted(760, 700);
    resize(parent ? wanted.boundedTo(
                        {std::max(parent->window()->width() - 40, 560), std::max(parent->window()->height() - 40, 440)})
                  : wanted);
}

QWidget* ExportDialog::makeHead() {
    auto* head = new QWidget(this);
    m_format = new QComboBox(head);
    m_format->setObjectName(QStringLiteral("format"));
    m_format->setToolTip(tr("Format of the file"));
    for (const exporting::ExportFormatInfo& info : exporting::exportFormats())
        m_format->addItem(text(info.name), text(info.id));
    m_preset = new QComboBox(head);
    m_preset->setObjectName(QStringLiteral("preset"));
    m_preset->setToolTip(tr("Options that belong together; names, test cases and files stay as they are"));
    auto* formatLabel = new QLabel(tr("&Format"), head);
    formatLabel->setBuddy(m_format);
    auto* presetLabel = new QLabel(tr("&Preset"), head);
    presetLabel->setBuddy(m_preset);
    m_formatHelp = new QLabel(head);
    m_formatHelp->setWordWrap(true);
    auto* row = new QHBoxLayout;
    row->addWidget(formatLabel);
    row->addWidget(m_format);
    row->addSpacing(theme::kMedium);
    row->addWidget(presetLabel);
    row->addWidget(m_preset, 1);
    auto* column = new QVBoxLayout(head);
    column->setContentsMargins(0, 0, 0, 0);
    column->addLayout(row);
    column->addWidget(m_formatHelp);
    return head;
}

QWidget* ExportDialog::makeParts() {
    m_options = new ExportOptionsView(this);
    m_options->setInputData(m_exports.inputData());
    auto* area = new widgets::TallArea(m_options, this);
    area->setObjectName(QStringLiteral("options"));
    area->setFocusPolicy(Qt::NoFocus);  // the options in it have it
    m_parts = new QSplitter(Qt::Vertical, this);
    m_parts->setChildrenCollapsible(false);
    m_parts->addWidget(area);
    m_parts->addWidget(makePreview());
    m_parts->setStretchFactor(0, 1);
    m_parts->setStretchFactor(1, 1);
    m_parts->setSizes({kOptionsHeight, kPreviewHeight});
    connect(m_parts, &QSplitter::splitterMoved, this, [this] { m_isSplitByHand = true; });
    return m_parts;
}

QWidget* ExportDialog::makePreview() {
    auto* preview = new QWidget(this);
    m_table = new ExportPreviewTable(preview);
    m_table->setObjectName(QStringLiteral("preview"));
    m_details = new QLabel(preview);
    m_details->setObjectName(QStringLiteral("details"));
    m_details->setWordWrap(true);
    m_details->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_progress = new widgets::ProgressStrip(preview);
    auto* column = new QVBoxLayout(preview);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_table, 1);
    column->addWidget(m_details);
    column->addWidget(m_progress);
    return preview;
}

QWidget* ExportDialog::makeFileRow() {
    auto* rows = new QWidget(this);
    m_path = new QLineEdit(rows);
    m_path->setObjectName(QStringLiteral("path"));
    auto* browse = new QPushButton(tr("&Browse…"), rows);
    browse->setObjectName(QStringLiteral("browse"));
    browse->setAutoDefault(false);
    auto* pathLabel = new QLabel(tr("Fil&e"), rows);
    pathLabel->setBuddy(m_path);
    m_command = new QLineEdit(rows);
    m_command->setObjectName(QStringLiteral("command"));
    m_command->setReadOnly(true);
    m_command->setFont(theme::Theme::instance().monoFont());
    auto* commandLabel = new QLabel(tr("Comma&nd"), rows);
    commandLabel->setBuddy(m_command);
    auto* copy = new QPushButton(tr("Cop&y"), rows);
    copy->setAutoDefault(false);
    copy->setToolTip(tr("Copy the command"));
    m_state = new QLabel(rows);
    m_state->setObjectName(QStringLiteral("state"));
    m_state->setWordWrap(true);
    auto* grid = new QGridLayout(rows);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->addWidget(pathLabel, 0, 0);
    grid->addWidget(m_path, 0, 1);
    grid->addWidget(browse, 0, 2);
    grid->addWidget(commandLabel, 1, 0);
    grid->addWidget(m_command, 1, 1);
    grid->addWidget(copy, 1, 2);
    grid->addWidget(m_state, 2, 0, 1, 3);
    connect(browse, &QPushButton::clicked, this, &ExportDialog::chooseFile);
    connect(copy, &QPushButton::clicked, this, [this] { QApplication::clipboard()->setText(m_command->text()); });
    return rows;
}

QWidget* ExportDialog::makeButtons() {
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    m_write = buttons->addButton(tr("E&xport"), QDialogButtonBox::ApplyRole);
    m_write->setObjectName(QStringLiteral("write"));
    m_write->setDefault(true);
    m_beside = buttons->addButton(tr("&Open Beside and Compare"), QDialogButtonBox::ActionRole);
    m_beside->setObjectName(QStringLiteral("beside"));
    m_beside->setToolTip(tr("Open the written file in a window beside this one, and compare all values"));
    m_beside->setAutoDefault(false);
    // The box has placed them as the desktop does.
    QWidget* before = nullptr;
    for (int i = 0; i < buttons->layout()->count(); ++i) {
        QWidget* const button = buttons->layout()->itemAt(i)->widget();
        if (!button) continue;
        if (before) setTabOrder(before, button);
        before = button;
    }
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_write, &QPushButton::clicked, this, [this] { write(); });
    connect(m_beside, &QPushButton::clicked, this, [this] {
        Q_EMIT besideRequested(m_writtenPath);
        accept();
    });
    return buttons;
}

void ExportDialog::connectParts() {
    connect(m_format, &QComboBox::currentIndexChanged, this, &ExportDialog::chooseFormat);
    connect(m_preset, &QComboBox::activated, this, &ExportDialog::choosePreset);
    connect(m_options, &ExportOptionsView::changed, this, [this] {
        m_exports.setChoice(m_options->choice());
        followChoice();
    });
    connect(m_options, &ExportOptionsView::validityChanged, this, &ExportDialog::refreshButtons);
    connect(m_path, &QLineEdit::textEdited, this, [this] { m_ownPath = true; });
    connect(m_path, &QLineEdit::textChanged, this, &ExportDialog::pathEdited);
    connect(m_table, &QTableWidget::itemSelectionChanged, this, &ExportDialog::showPreview);
    connect(m_delay, &QTimer::timeout, &m_exports, &context::Exports::makePreview);
    connect(&m_exports, &context::Exports::previewChanged, this, [this] {
        m_table->show(m_exports.preview());
        showPreview();
    });
    connect(&m_exports, &context::Exports::begun, this, [this](const QString& what) {
        m_progress->start(what);
        refreshButtons();
    });
    connect(&m_exports, &context::Exports::progressed, this, [this](const base::Progress& now) {
        m_progress->setProgress(QString::fromStdString(now.what), static_cast<qint64>(now.done),
                                static_cast<qint64>(now.total));
    });
    connect(&m_exports, &context::Exports::ended, this, [this] {
        m_progress->finish();
        refreshButtons();
        if (std::exchange(m_justWritten, false)) m_beside->setFocus();
    });
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, &ExportDialog::showTold);
    connect(m_progress, &widgets::ProgressStrip::cancelRequested, &m_exports, &context::Exports::cancel);
    connect(&m_exports, &context::Exports::written, this, &ExportDialog::told);
    connect(&m_exports, &context::Exports::failed, this,
            [this](const base::Error& error) { tell(context::windowTextWithHint(error), true); });
}

void ExportDialog::setChoice(const ExportChoice& choice) {
    m_exports.setChoice(choice);
    m_options->show(choice);
    followChoice();
}

void ExportDialog::setPath(const QString& path) {
    m_ownPath = true;
    m_path->setText(path);
}

bool ExportDialog::isBusy() const { return m_delay->isActive() || m_exports.isPreviewing() || m_exports.isWriting(); }

void ExportDialog::chooseFormat() {
    if (m_showing) return;
    const auto index = static_cast<std::size_t>(m_format->currentIndex());
    ExportChoice choice = m_exports.choice();
    choice.format = exporting::exportFormats().at(index).format;
    setChoice(choice);
}

void ExportDialog::choosePreset() {
    const std::string id = m_preset->currentData().toString().toStdString();
    const exporting::ExportPreset* preset = exporting::findExportPreset(m_exports.choice().format, id);
    if (preset) setChoice(exporting::withPreset(m_exports.choice(), *preset));
}

/// Everything that says what is chosen, and a preview of it after a moment.
void ExportDialog::followChoice() {
    const QScopedValueRollback guard(m_showing, true);
    const ExportChoice& choice = m_exports.choice();
    const exporting::ExportFormatInfo& info = exporting::infoOf(choice.format);
    m_format->setCurrentIndex(m_format->findData(text(info.id)));
    m_formatHelp->setText(text(info.help));
    showPossible();
    m_preset->clear();
    const exporting::ExportPreset* now = exporting::presetOf(choice);
    for (const exporting::ExportPreset& preset : exporting::exportPresets()) {
        if (preset.format != choice.format) continue;
        m_preset->addItem(text(preset.name), text(preset.id));
        m_preset->setItemData(m_preset->count() - 1, text(preset.help), Qt::ToolTipRole);
        if (&preset == now) m_preset->setCurrentIndex(m_preset->count() - 1);
    }
    if (!now) {
        m_preset->addItem(tr("Own choice"));
        m_preset->setCurrentIndex(m_preset->count() - 1);
    }
    if (!m_ownPath) m_path->setText(m_exports.suggestedPath(m_folder));
    m_delay->start();
    pathEdited();
}

/// A format that does not fit the model has neither options nor a preview: what is the matter, and what to do.
void ExportDialog::showPossible() {
    const auto possible = m_exports.check(m_exports.choice().format);
    m_stack->setCurrentIndex(possible ? 0 : 1);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_preset, m_fileRow})
        widget->setEnabled(possible.has_value());
    if (!possible)
        m_impossible->setContent(QStringLiteral("export"), capitalised(possible.error().what),
                                 capitalised(context::windowHint(possible.error().hint).toStdString()));
}

void ExportDialog::chooseFile() {
    const exporting::ExportFormatInfo& info = exporting::infoOf(m_exports.choice().format);
    auto* dialog = new QFileDialog(
        this, tr("Export Model"), QFileInfo(m_path->text()).absolutePath(),
        tr("%1 (*.%2)").arg(text(info.name), text(info.suffix)) + QStringLiteral(";;") + tr("All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(text(info.suffix));
    dialog->selectFile(QFileInfo(m_path->text()).fileName());
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) {
        setPath(file);
        // The dialog has asked.
        m_replaced = file;
        pathEdited();
    });
    dialog->open();
}

void ExportDialog::pathEdited() {
    if (m_path->text() != m_replaced) m_replaced.clear();
    showCommand();
    tell({});
    refreshButtons();
}

void ExportDialog::showCommand() {
    const bool isPossible = m_exports.check(m_exports.choice().format).has_value();
    m_command->setText(isPossible ? m_exports.commandLine(m_path->text()) : QString());
    m_command->setCursorPosition(0);
    m_command->setToolTip(tr("The command that writes the same file") + u'\n' + m_command->text());
}

void ExportDialog::showPreview() {
    const auto& problem = m_exports.problem();
    QString said = m_table->details();
    if (problem) {
        // Of a format that does not fit it is told in place of the preview.
        const bool isPossible = m_exports.check(m_exports.choice().format).has_value();
        said = isPossible ? context::windowTextWithHint(*problem) : QString();
    } else if (!m_exports.preview()) {
        said = tr("Measuring on the current inputs…");
    } else if (said.isEmpty()) {
        said = tr("On the current inputs, with %1 threads. Each row adds one option to those above")
                   .arg(context::countText(static_cast<qint64>(m_exports.preview()->threads)));
    }
    m_details->setText(context::withUnbrokenOptions(said));
    showTold();
    makeRoom();
}

/// As many rows of the preview as are there, as long as the options keep a third.
void ExportDialog::makeRoom() {
    if (m_isSplitByHand || !m_exports.preview()) return;
    const QList<int> sizes = m_parts->sizes();
    const int all = sizes[0] + sizes[1], beside = sizes[1] - m_table->height();
    const int wanted = std::clamp(m_table->sizeHint().height() + beside, kPreviewHeight, all * 2 / 3);
    if (wanted > sizes[1]) m_parts->setSizes({all - wanted, wanted});
}

void ExportDialog::write(bool replace) {
    if (!m_write->isEnabled()) return;
    const QString path = m_path->text();
    const bool replaces = QFileInfo::exists(path) && !m_exports.choice().settings.append;
    if (const auto checked = m_exports.checkPath(path); !checked)
        return tell(context::windowTextWithHint(checked.error()), true);
    if (replaces && !replace && m_replaced != path) {
        m_replaced = path;
        tell(tr("%1 exists. Press Replace to write over it").arg(QFileInfo(path).fileName()), true);
        return refreshButtons();
    }
    m_delay->stop();
    m_exports.write(path);
}

void ExportDialog::told(const QString& path, const QStringList& notes) {
    m_writtenPath = path;
    m_replaced.clear();
    const QString bytes = context::countText(QFileInfo(path).size());
    tell(tr("%1 is written: %2 bytes").arg(QFileInfo(path).fileName(), bytes));
    m_notes = notes;
    showTold();
    refreshButtons();
    m_justWritten = true;
    // A preview that the writing has ended is made now.
    if (!m_exports.preview()) m_delay->start();
    Q_EMIT written(path);
}

void ExportDialog::tell(const QString& said, bool isError) {
    m_said = said;
    m_notes.clear();
    m_isError = isError;
    showTold();
}

/// Notes that are below the preview are not said twice, whichever comes first.
void ExportDialog::showTold() {
    QStringList lines{m_said};
    for (const QString& note : m_notes)
        if (!m_details->text().contains(context::withUnbrokenOptions(note))) lines << note;
    const QString said = context::withUnbrokenOptions(lines.join(u'\n'));
    m_state->setText(said);
    m_state->setVisible(!said.isEmpty());
    QPalette palette = m_state->palette();
    palette.setColor(QPalette::WindowText, theme::color(m_isError ? theme::ColorRole::Error : theme::ColorRole::Text));
    m_state->setPalette(palette);
}

void ExportDialog::refreshButtons() {
    const bool possible = m_exports.check(m_exports.choice().format).has_value();
    m_write->setEnabled(possible && m_options->isValid() && !m_path->text().isEmpty() && !m_exports.isWriting());
    m_write->setText(!m_replaced.isEmpty() && m_replaced == m_path->text() ? tr("Replace") : tr("E&xport"));
    m_beside->setEnabled(!m_writtenPath.isEmpty() && !m_exports.isWriting());
}

void ExportDialog::keyPressEvent(QKeyEvent* event) {
    // Escape ends what goes on first.
    if (event->key() == Qt::Key_Escape && m_exports.isWriting()) return m_exports.cancel();
    QDialog::keyPressEvent(event);
}

}  // namespace sonde::dialogs
