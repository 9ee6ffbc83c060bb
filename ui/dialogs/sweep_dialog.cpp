#include "ui/dialogs/sweep_dialog.h"

#include <QComboBox>
#include <QCompleter>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

#include "core/io/image/image.h"
#include "ui/theme/theme.h"
#include "ui/widgets/tool_button.h"

namespace sonde::dialogs {

using context::SweepChoice;

namespace {

/// Names in one line; commas and blanks part them.
QStringList namesIn(const QString& text) {
    QStringList names;
    for (const QString& name : text.split(u',')) names << name.trimmed();
    names.removeAll(QString());
    return names;
}

}  // namespace

SweepDialog::SweepDialog(const SweepChoice& choice, const QStringList& nodes, const QString& folder, QWidget* parent)
    : QDialog(parent), m_folder(folder), m_inputs(new QLineEdit(choice.inputs, this)),
      m_condition(new QLineEdit(choice.condition, this)), m_labels(new QLineEdit(choice.labels, this)),
      m_watched(new QLineEdit(choice.watched.join(QStringLiteral(", ")), this)), m_preset(new QComboBox(this)),
      m_buttons(new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this)) {
    setWindowTitle(tr("Sweep over Inputs"));
    m_inputs->setObjectName(QStringLiteral("sweepInputs"));
    m_inputs->setPlaceholderText(tr("A folder of images or arrays, or an .npz with cases"));
    m_watched->setObjectName(QStringLiteral("sweepWatched"));
    m_watched->setPlaceholderText(tr("Names of nodes, with commas between them; empty: the outputs"));
    auto* completer = new QCompleter(nodes, m_watched);
    completer->setFilterMode(Qt::MatchContains);
    m_watched->setCompleter(completer);
    m_condition->setObjectName(QStringLiteral("sweepCondition"));
    m_condition->setPlaceholderText(QStringLiteral("max(abs(conv1)) < 6"));
    m_condition->setToolTip(tr("Of the expression language, over nodes; inputs for which it is false are listed"));
    m_labels->setObjectName(QStringLiteral("sweepLabels"));
    m_labels->setPlaceholderText(tr("Lines \"input,label\", or a label a line in the order of the inputs"));
    for (const io::ImagePreset& preset : io::imagePresets())
        m_preset->addItem(QString::fromStdString(std::string(preset.id)));
    m_preset->setCurrentText(choice.preset);
    m_preset->setToolTip(tr("How images become numbers"));

    const auto withButtons = [this](QLineEdit* edit, bool isInputs) {
        auto* row = new QHBoxLayout;
        row->addWidget(edit, 1);
        if (isInputs) {
            auto* folders = widgets::makeToolButton(QStringLiteral("open"), tr("Choose a folder"), this);
            connect(folders, &QToolButton::clicked, this, [this, edit] { browse(edit, true, true); });
            row->addWidget(folders);
        }
        auto* files = widgets::makeToolButton(QStringLiteral("list"), tr("Choose a file"), this);
        connect(files, &QToolButton::clicked, this, [this, edit, isInputs] { browse(edit, isInputs, false); });
        row->addWidget(files);
        return row;
    };
    auto* form = new QFormLayout;
    form->addRow(tr("&Inputs"), withButtons(m_inputs, true));
    form->addRow(tr("&Nodes"), m_watched);
    form->addRow(tr("&Condition"), m_condition);
    form->addRow(tr("&Labels"), withButtons(m_labels, false));
    form->addRow(tr("I&mages"), m_preset);
    m_buttons->button(QDialogButtonBox::Ok)->setText(tr("&Run"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(theme::kLarge, theme::kLarge, theme::kLarge, theme::kLarge);
    column->addLayout(form);
    column->addStretch(1);
    column->addWidget(m_buttons);
    resize(600, 260);

    connect(m_inputs, &QLineEdit::textChanged, this, &SweepDialog::refresh);
    connect(m_buttons, &QDialogButtonBox::accepted, this, [this] {
        Q_EMIT chosen(this->choice());
        accept();
    });
    connect(m_buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    refresh();
}

SweepChoice SweepDialog::choice() const {
    return {m_inputs->text().trimmed(), namesIn(m_watched->text()), m_condition->text().trimmed(),
            m_labels->text().trimmed(), m_preset->currentText()};
}

void SweepDialog::refresh() {
    m_buttons->button(QDialogButtonBox::Ok)->setEnabled(!m_inputs->text().trimmed().isEmpty());
}

void SweepDialog::browse(QLineEdit* into, bool isInputs, bool isFolder) {
    auto* dialog = new QFileDialog(this, isFolder ? tr("Choose a Folder") : tr("Choose a File"), m_folder);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(isFolder ? QFileDialog::Directory : QFileDialog::ExistingFile);
    if (!isFolder)
        dialog->setNameFilters(
            {isInputs ? tr("Archives (*.npz)") : tr("Labels (*.csv *.txt *.tsv *.npy)"), tr("All files (*)")});
    connect(dialog, &QFileDialog::fileSelected, into, &QLineEdit::setText);
    dialog->open();
}

}  // namespace sonde::dialogs
