#include "ui/panels/inputs/input_editor.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QSignalBlocker>
#include <QToolButton>
#include <QVBoxLayout>

#include "core/document/input_infos.h"
#include "core/io/image/image.h"
#include "ui/models/node_text.h"
#include "ui/theme/theme.h"
#include "ui/widgets/flow_layout.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/tool_button.h"

namespace sonde::panels {

using context::InputSpec;
using context::InspectorContext;
using context::ModelInput;

namespace {

bool isArrayFile(const QString& source) {
    const QString file = source.section(QLatin1Char('#'), 0, 0).toLower();
    return file.endsWith(QLatin1String(".npy")) || file.endsWith(QLatin1String(".npz"));
}

}  // namespace

InputEditor::InputEditor(InspectorContext& context, const QString& inputName, QWidget* parent)
    : QFrame(parent),
      m_context(context),
      m_name(inputName),
      m_grid(new QGridLayout(this)),
      m_type(new widgets::ElidedLabel),
      m_mode(new QComboBox),
      m_source(new QLineEdit),
      m_browse(widgets::makeToolButton(QStringLiteral("open"), tr("Choose a file"), this)),
      m_imageRow(new QWidget),
      m_resize(new QCheckBox(tr("Resize to the input"))),
      m_preset(new QComboBox),
      m_state(new QLabel) {
    setObjectName(QStringLiteral("input.") + inputName);
    setAcceptDrops(true);
    auto* name = new widgets::ElidedLabel(inputName);
    QFont bold = font();
    bold.setBold(true);
    name->setFont(bold);
    m_type->setColorRole(theme::ColorRole::MutedText);
    m_mode->addItems({tr("File"), tr("Random"), tr("Zeros"), tr("Not given")});
    m_mode->setAccessibleName(tr("Source of input %1").arg(inputName));
    m_source->setAccessibleName(tr("File or specification of input %1").arg(inputName));
    m_source->setPlaceholderText(tr("image, .npy, .npz or #rand(0,1)"));
    for (const io::ImagePreset& preset : io::imagePresets()) {
        const auto text = [](std::string_view s) { return QString::fromUtf8(s.data(), static_cast<qsizetype>(s.size())); };
        m_preset->addItem(text(preset.sentence), text(preset.id));
    }
    m_preset->setAccessibleName(tr("Normalisation of the picture"));
    m_preset->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_preset->setMinimumContentsLength(12);
    m_state->setWordWrap(true);
    m_state->setTextFormat(Qt::PlainText);
    m_state->setTextInteractionFlags(Qt::TextSelectableByMouse);

    auto* imageColumn = new QVBoxLayout(m_imageRow);
    imageColumn->setContentsMargins(0, 0, 0, 0);
    imageColumn->setSpacing(theme::kTight);
    imageColumn->addWidget(m_preset);
    imageColumn->addWidget(m_resize);
    m_grid->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, theme::kSmall);
    m_grid->setVerticalSpacing(theme::kTight);
    m_grid->setHorizontalSpacing(theme::kTight);
    m_grid->setColumnStretch(1, 1);
    auto* head = new widgets::FlowLayout(nullptr, theme::kMedium, 0);
    m_grid->addLayout(head, 0, 0, 1, 3);
    head->addWidget(name);
    head->addWidget(m_type);
    m_grid->addWidget(m_imageRow, 3, 0, 1, 3);
    m_grid->addWidget(m_state, 4, 0, 1, 3);
    arrange(false);

    connect(m_mode, &QComboBox::activated, this, &InputEditor::chooseMode);
    connect(m_source, &QLineEdit::editingFinished, this, &InputEditor::commit);
    connect(m_browse, &QToolButton::clicked, this, &InputEditor::browse);
    connect(m_preset, &QComboBox::activated, this, &InputEditor::commit);
    connect(m_resize, &QCheckBox::clicked, this, &InputEditor::commit);
    refresh();
}

/// In a narrow panel the specification has a line of its own, else it would be a few letters wide.
void InputEditor::arrange(bool isNarrow) {
    m_isNarrow = isNarrow;
    for (QWidget* widget : std::initializer_list<QWidget*>{m_mode, m_source, m_browse}) m_grid->removeWidget(widget);
    m_grid->addWidget(m_mode, 1, 0, 1, isNarrow ? 2 : 1);
    m_grid->addWidget(m_browse, 1, 2);
    m_grid->addWidget(m_source, isNarrow ? 2 : 1, isNarrow ? 0 : 1, 1, isNarrow ? 3 : 1);
}

void InputEditor::resizeEvent(QResizeEvent* event) {
    QFrame::resizeEvent(event);
    const bool isNarrow = width() - m_mode->sizeHint().width() - m_browse->sizeHint().width() < fontMetrics().horizontalAdvance(QStringLiteral("#rand(0,1,1,3,224,224)"));
    if (isNarrow != m_isNarrow) arrange(isNarrow);
}

void InputEditor::refresh() {
    const ModelInput* input = m_context.input(m_name);
    if (!input) return;
    const QString type = QString::fromStdString(input->type.text());
    m_type->setText(type);
    const QString& source = input->spec.source;
    const Mode mode = source.isEmpty() ? None
                      : source.startsWith(QLatin1String("#rand(0,0")) ? Zeros
                      : source.startsWith(QLatin1Char('#')) ? Random
                                                            : File;
    m_mode->setCurrentIndex(mode);
    if (!m_source->hasFocus() || !m_source->isModified()) m_source->setText(source);
    if (mode != File && !m_source->hasFocus()) m_source->setCursorPosition(0);  // a path tells most at its end
    m_source->setToolTip(source);
    m_source->setEnabled(mode != None);
    m_browse->setEnabled(true);
    m_imageRow->setVisible(mode == File && !isArrayFile(source));
    m_resize->setChecked(input->spec.image.resize);
    m_preset->setCurrentIndex(std::max(0, m_preset->findData(input->spec.image.preset)));
    QString state = input->isDemanded ? tr("As the layers want it") : QString();
    theme::ColorRole role = theme::ColorRole::MutedText;
    if (input->error) {
        state = QString::fromStdString(input->error->what);
        if (!input->error->hint.empty()) state += QLatin1Char('\n') + QString::fromStdString(input->error->hint);
        role = theme::ColorRole::Error;
    } else if (input->value) {
        state += (state.isEmpty() ? QString() : QStringLiteral("\n")) + tr("Given: %1").arg(models::shown(input->value->typeText()));
    }
    m_state->setText(state);
    m_state->setVisible(!state.isEmpty());
    QPalette palette = m_state->palette();
    palette.setColor(QPalette::WindowText, theme::color(role));
    m_state->setPalette(palette);
}

void InputEditor::chooseMode(int mode) {
    const ModelInput* input = m_context.input(m_name);
    if (!input) return;
    InputSpec spec = input->spec;
    tensor::TypeInfo type = input->type;
    for (const io::InputInfo& info : document::inputInfos(*m_context.document()))
        if (info.name == m_name.toStdString()) type = document::usualType(info);
    switch (mode) {
        case Random: spec.source = context::randomSource(type, 0, 1); break;
        case Zeros: spec.source = context::randomSource(type, 0, 0); break;
        case None: spec.source.clear(); break;
        default: browse(); return;
    }
    m_context.setInputSpec(m_name, spec);
}

void InputEditor::commit() {
    const ModelInput* input = m_context.input(m_name);
    if (!input) return;
    InputSpec spec;
    spec.source = m_source->text().trimmed();
    spec.image.resize = m_resize->isChecked();
    spec.image.preset = m_preset->currentData().toString();
    m_source->setModified(false);
    if (spec != input->spec) m_context.setInputSpec(m_name, spec);
}

void InputEditor::browse() {
    auto* dialog = new QFileDialog(this, tr("Value of input %1").arg(m_name));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilters({tr("Values and pictures (*.npy *.npz *.png *.jpg *.jpeg *.bmp *.ppm *.pgm *.gif *.tga)"), tr("All files (*)")});
    const ModelInput* input = m_context.input(m_name);
    if (input && input->spec.isFile()) dialog->setDirectory(QFileInfo(input->spec.source).absolutePath());
    connect(dialog, &QFileDialog::fileSelected, this, &InputEditor::showFile);
    connect(dialog, &QFileDialog::finished, this, &InputEditor::refresh);
    dialog->open();
}

void InputEditor::showFile(const QString& path) {
    m_source->setText(path);
    commit();
}

void InputEditor::dragEnterEvent(QDragEnterEvent* event) {
    const QList<QUrl> urls = event->mimeData()->urls();  // a list of addresses may have none in it
    if (!urls.isEmpty() && urls.first().isLocalFile()) event->acceptProposedAction();
}

void InputEditor::dropEvent(QDropEvent* event) {
    const QList<QUrl> urls = event->mimeData()->urls();
    if (urls.isEmpty() || !urls.first().isLocalFile()) return;
    event->acceptProposedAction();
    showFile(urls.first().toLocalFile());
}

}  // namespace sonde::panels
