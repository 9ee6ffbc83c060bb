#include "ui/panels/inputs/input_editor.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QRegularExpression>
#include <QSignalBlocker>
#include <QToolButton>
#include <QVBoxLayout>

#include "core/document/input_infos.h"
#include "core/io/image/image.h"
#include "core/io/inputs/data_files.h"
#include "core/io/inputs/drawing.h"
#include "core/io/inputs/inputs.h"
#include "core/io/inputs/noise.h"
#include "core/io/inputs/text_input.h"
#include "core/io/inputs/text_item.h"
#include "ui/context/input_spec.h"
#include "ui/context/inputs.h"
#include "ui/context/open_model.h"
#include "ui/context/text.h"
#include "ui/context/window_hint.h"
#include "ui/models/node_text.h"
#include "ui/panels/inputs/draw_part.h"
#include "ui/panels/inputs/folder_part.h"
#include "ui/panels/inputs/noise_part.h"
#include "ui/panels/inputs/slider_part.h"
#include "ui/panels/inputs/sound_part.h"
#include "ui/theme/theme.h"
#include "ui/widgets/flow_layout.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/number_field.h"
#include "ui/widgets/tool_button.h"

namespace sonde::panels {

using context::InputSpec;
using context::ModelInput;

namespace {

/// Whether the choices for pictures say something: not of files whose names tell another kind.
bool mayBePicture(const QString& source) {
    const std::string path = io::splitDataItem(source.toStdString()).first;
    if (io::kindOfItem(path) == io::ItemKind::Archive) return false;
    const io::DataFileKind* const kind = io::dataFileKindOf(path, {});
    return !kind || kind->isPicture;
}

/// "*.npz *.npy *.png …"
QString valueFilePatterns() {
    QStringList patterns;
    for (const std::string_view suffix : io::dataFileSuffixes())
        patterns += QLatin1Char('*') + QString::fromUtf8(suffix.data(), static_cast<qsizetype>(suffix.size()));
    return patterns.join(QLatin1Char(' '));
}

/// A list of tokens, with each id in the line of its token.
QString unbroken(QString note) {
    static const QRegularExpression id(QStringLiteral("(?<=[:·] )(\\d+) "),
                                       QRegularExpression::UseUnicodePropertiesOption);
    return note.replace(id, QStringLiteral("\\1") + QChar(QChar::Nbsp));
}

QString plainSource(const QString& source) {
    return context::text(std::string(io::withoutNoise(source.toStdString())));
}

/// A source with the noise of another one, which is kept while the value under it changes.
QString withNoiseOf(const QString& noisy, const QString& source) {
    const auto noise = io::noiseOf(noisy.toStdString());
    return noise && *noise ? context::text(io::withNoise(source.toStdString(), **noise)) : source;
}

bool isTextSource(const QString& source) { return io::isTextItem(source.toStdString()); }

/// The text of an item and what stands behind it; empty ones of another item.
io::TextItem textIn(const QString& source) {
    auto item = io::parseTextItem(source.toStdString());
    return item ? std::move(*item) : io::TextItem{};
}

QString textSource(const QString& text, const QString& part) {
    return context::text(io::textItemOf(text.toStdString(), part.toStdString()));
}

/// With edits a second run follows a live one, which is debugged.
bool goesOn(const context::Runs& runs) {
    return runs.isRunning() || (runs.isDebugged() && runs.state() == context::RunState::NotRun);
}

}  // namespace

InputEditor::InputEditor(context::OpenModel& opened, context::Runs& runs, context::Inputs& inputs,
                         const QString& inputName, QWidget* parent)
    : QFrame(parent), m_opened(opened), m_runs(runs), m_inputs(inputs), m_name(inputName),
      m_grid(new QGridLayout(this)), m_type(new widgets::ElidedLabel), m_mode(new QComboBox), m_source(new QLineEdit),
      m_browse(widgets::makeToolButton(QStringLiteral("open"), tr("Choose a file"), this)),
      m_number(new widgets::NumberField), m_flag(new QCheckBox), m_textRow(new QWidget), m_tokenizer(new QLineEdit),
      m_chooseTokenizer(widgets::makeToolButton(QStringLiteral("open"), tr("Choose a tokenizer file"), this)),
      m_imageRow(new QWidget), m_resize(new QCheckBox(tr("Resize to input"))), m_preset(new QComboBox),
      m_draw(new DrawPart(opened, inputName)), m_folder(new FolderPart(inputName)), m_state(new QLabel) {
    setObjectName(QStringLiteral("input.") + inputName);
    setAcceptDrops(true);
    auto* name = new widgets::ElidedLabel(inputName);
    QFont bold = font();
    bold.setBold(true);
    name->setFont(bold);
    m_type->setColorRole(theme::ColorRole::MutedText);
    if (const ModelInput* input = m_inputs.find(inputName)) m_field = context::numberFieldOf(input->type);
    addModes();
    m_mode->setSizeAdjustPolicy(QComboBox::AdjustToContents);  // "Test case 12" is longer than what it begins with
    m_mode->setToolTip(tr("Source of the value"));
    m_mode->setAccessibleName(tr("Source of input %1").arg(inputName));
    m_source->setAccessibleName(tr("File or specification of input %1").arg(inputName));
    m_number->setObjectName(QStringLiteral("number"));
    m_number->setAccessibleName(tr("Value of input %1").arg(inputName));
    m_number->setToolTip(tr("Press Enter to apply; Up and Down change the number"));
    m_flag->setObjectName(QStringLiteral("flag"));
    m_flag->setAccessibleName(tr("Value of input %1").arg(inputName));
    m_flag->setToolTip(tr("Checked: true"));
    for (const io::ImagePreset& preset : io::imagePresets()) {
        m_preset->addItem(context::text(preset.description), context::text(preset.id));
    }
    m_preset->setAccessibleName(tr("Normalisation of the image"));
    m_preset->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_preset->setMinimumContentsLength(12);
    m_state->setWordWrap(true);
    m_state->setTextFormat(Qt::PlainText);
    m_state->setTextInteractionFlags(Qt::TextSelectableByMouse);

    addTextRow();
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
    arrange(false);  // first: Tab goes through them in the order in which they are added
    m_grid->addWidget(m_textRow, 3, 0, 1, 3);
    m_grid->addWidget(m_imageRow, 4, 0, 1, 3);
    addParts();
    m_grid->addWidget(m_state, m_grid->rowCount(), 0, 1, 3);

    connect(m_mode, &QComboBox::activated, this, &InputEditor::chooseMode);
    connect(m_source, &QLineEdit::editingFinished, this, &InputEditor::commit);
    connect(m_source, &QLineEdit::textEdited, this, [this] {
        if (chosenMode() == Text) Q_EMIT numberTyped();
    });
    // What is no number, or too large for one, is refused where it is read: the field and the run must not differ.
    connect(m_number, &widgets::NumberField::editingFinished, this, [this] {
        if (m_number->isModified()) giveNumber(m_number->number());
    });
    connect(m_number, &widgets::NumberField::stepped, this, [this] { giveNumber(m_number->number()); });
    connect(m_number, &widgets::NumberField::typed, this, &InputEditor::numberTyped);
    connect(m_flag, &QCheckBox::clicked, this,
            [this](bool checked) { give(checked ? QStringLiteral("true") : QStringLiteral("false")); });
    connect(m_browse, &QToolButton::clicked, this, &InputEditor::browse);
    connect(m_preset, &QComboBox::activated, this, &InputEditor::commit);
    connect(m_resize, &QCheckBox::clicked, this, &InputEditor::commit);
    setFocusProxy(m_mode);
    refresh();
}

/// Each choice has its mode, since not every input is offered all of them.
void InputEditor::addModes() {
    const QString numbers = m_field == context::NumberField::Number ? tr("Number")
                            : m_field == context::NumberField::Flag ? tr("Bool")
                                                                    : tr("Numbers");
    m_mode->addItem(tr("File"), File);
    if (canDraw()) m_mode->addItem(tr("Drawing"), Draw);
    m_mode->addItem(tr("Random"), Random);
    m_mode->addItem(tr("Zeros"), Zeros);
    m_mode->addItem(numbers, Numbers);
    const ModelInput* const input = m_inputs.find(m_name);
    if (input && m_field == context::NumberField::List && io::takesText(input->type)) m_mode->addItem(tr("Text"), Text);
    m_mode->addItem(tr("No value"), None);
}

InputEditor::Mode InputEditor::chosenMode() const { return static_cast<Mode>(m_mode->currentData().toInt()); }

void InputEditor::addTextRow() {
    m_tokenizer->setObjectName(QStringLiteral("tokenizer"));
    m_tokenizer->setAccessibleName(tr("Tokenizer of input %1").arg(m_name));
    m_tokenizer->setPlaceholderText(tr("tokenizer.json or vocab.txt"));
    m_tokenizer->setToolTip(tr(
        "File that makes tokens of the text; behind it a length, as in vocab.txt,128, or \"plain\" for no special tokens"));
    auto* row = new QHBoxLayout(m_textRow);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(theme::kTight);
    auto* label = new QLabel(tr("Tokenizer"));
    row->addWidget(label);
    row->addWidget(m_tokenizer, 1);
    row->addWidget(m_chooseTokenizer);
    connect(m_tokenizer, &QLineEdit::editingFinished, this, &InputEditor::commit);
    connect(m_chooseTokenizer, &QToolButton::clicked, this, &InputEditor::browseTokenizer);
}

/// The table of parts: each is a row below the source.
void InputEditor::addParts() {
    m_parts = {m_draw, m_folder, new SliderPart(m_name), new SoundPart(m_name), new NoisePart(m_name)};
    for (InputPart* part : m_parts) {
        m_grid->addWidget(part, m_grid->rowCount(), 0, 1, 3);
        connect(part, &InputPart::given, this, &InputEditor::steer);
    }
    const auto giveWaiting = [this] {
        if (m_waiting && !goesOn(m_runs)) give(*std::exchange(m_waiting, std::nullopt));
    };
    // Once everybody was told of the run that ended.
    connect(&m_runs, &context::Runs::runFinished, this, giveWaiting, Qt::QueuedConnection);
}

bool InputEditor::canDraw() const {
    const ModelInput* const input = m_inputs.find(m_name);
    return input && DrawPart::fits(*input);
}

void InputEditor::draw() { chooseMode(m_mode->findData(Draw)); }

/// In a narrow panel the specification has a line of its own, else it would be a few letters wide.
void InputEditor::arrange(bool isNarrow) {
    m_isNarrow = isNarrow;
    for (QWidget* widget : std::initializer_list<QWidget*>{m_mode, m_source, m_number, m_flag, m_browse})
        m_grid->removeWidget(widget);
    m_grid->addWidget(m_mode, 1, 0, 1, isNarrow ? 2 : 1);
    m_grid->addWidget(m_browse, 1, 2);
    for (QWidget* field : std::initializer_list<QWidget*>{m_source, m_number, m_flag})
        m_grid->addWidget(field, isNarrow ? 2 : 1, isNarrow ? 0 : 1, 1, isNarrow ? 3 : 1);
}

void InputEditor::resizeEvent(QResizeEvent* event) {
    QFrame::resizeEvent(event);
    const bool isNarrow = width() - m_mode->sizeHint().width() - m_browse->sizeHint().width() <
                          fontMetrics().horizontalAdvance(QStringLiteral("#rand(0,1,1,3,224,224)"));
    if (isNarrow != m_isNarrow) arrange(isNarrow);
}

void InputEditor::refresh() {
    const ModelInput* input = m_inputs.find(m_name);
    if (!input) return;
    const QString type = QString::fromStdString(input->type.text());
    m_type->setText(type);
    const QString source = plainSource(input->spec.source);
    const Mode given = modeOf(*input);
    if (given != None) m_emptied.reset();
    const Mode mode = m_emptied.value_or(given);
    if (const int last = m_mode->findData(TestCase); last >= 0) m_mode->removeItem(last);
    if (mode == TestCase) m_mode->addItem(input->note.isEmpty() ? tr("Values") : input->note, TestCase);
    // Of an input that no text fits a text is refused; its field is that of a file.
    m_mode->setCurrentIndex(std::max(0, m_mode->findData(mode)));
    m_number->setIntegral(input->type.kind == tensor::ValueKind::Int || tensor::isInteger(input->type.dtype));
    const QWidget* const field = m_emptied ? m_emptiedField : fieldOf(mode);
    for (QWidget* each : std::initializer_list<QWidget*>{m_source, m_number, m_flag}) each->setVisible(each == field);
    if (given == Numbers && !(m_number->hasFocus() && m_number->isModified())) m_number->setNumber(source);
    m_flag->setChecked(source == QLatin1String("true") || source == QLatin1String("1"));
    m_flag->setText(m_flag->isChecked() ? tr("true") : tr("false"));
    const bool isText = chosenMode() == Text;
    m_source->setPlaceholderText(mode == Numbers ? tr("[1,2,3] or [[1,2],[3,4]]")
                                 : isText        ? tr("Text")
                                                 : tr("image, .npy, .npz, .wav, .csv or #rand(0,1)"));
    if (!m_source->hasFocus() || !m_source->isModified())
        m_source->setText(isText ? context::text(textIn(source).text) : mode == Draw ? QString() : source);
    if (!m_tokenizer->hasFocus() || !m_tokenizer->isModified())
        m_tokenizer->setText(isText ? context::text(textIn(source).part) : QString());
    m_textRow->setVisible(isText);
    if (mode != File && !m_source->hasFocus()) m_source->setCursorPosition(0);  // a path tells most at its end
    m_source->setToolTip(mode == Draw ? QString() : source);
    m_source->setEnabled(mode != None);
    m_browse->setEnabled(true);
    m_browse->setVisible(!isText);
    m_imageRow->setVisible(mode == Draw || (mode == File && mayBePicture(source)));
    m_resize->setVisible(mode == File);
    m_resize->setChecked(input->spec.image.resize);
    m_preset->setCurrentIndex(std::max(0, m_preset->findData(input->spec.image.preset)));
    for (InputPart* part : m_parts) part->refresh(*input);
    showState(*input);
}

InputEditor::Mode InputEditor::modeOf(const ModelInput& input) const {
    const QString source = plainSource(input.spec.source);
    if (io::isDrawingItem(source.toStdString())) return Draw;
    if (source.isEmpty()) return input.value ? TestCase : None;
    if (isTextSource(source)) return Text;
    if (source.startsWith(QLatin1String("#zeros")) || source.startsWith(QLatin1String("#rand(0,0,")) ||
        source == QLatin1String("#rand(0,0)"))
        return Zeros;
    if (source.startsWith(QLatin1Char('#'))) return Random;
    return input.spec.isNumbers() ? Numbers : File;
}

/// Text that the control of the type cannot show, such as "[3]" or "{}", is shown as text.
QWidget* InputEditor::fieldOf(Mode mode) const {
    if (mode == Draw) return nullptr;
    if (mode != Numbers || m_field == context::NumberField::List) return m_source;
    QString source = plainSource(m_inputs.find(m_name)->spec.source);
    if (m_field == context::NumberField::Flag) {
        static const QStringList words{QStringLiteral("true"), QStringLiteral("false"), QStringLiteral("0"),
                                       QStringLiteral("1")};
        return words.contains(source) ? static_cast<QWidget*>(m_flag) : m_source;
    }
    int position = 0;
    return m_number->validate(source, position) == QValidator::Acceptable ? static_cast<QWidget*>(m_number) : m_source;
}

void InputEditor::showState(const ModelInput& input) {
    QStringList lines;
    theme::ColorRole role = theme::ColorRole::MutedText;
    m_isRefused = input.error || input.conflict;
    if (const auto& error = input.error ? input.error : input.conflict) {
        lines << QString::fromStdString(error->what);
        if (const QString hint = context::windowHint(error->hint); !hint.isEmpty()) lines << hint;
        role = theme::ColorRole::Error;
    } else {
        if (input.isRequired) lines << tr("Shape inferred from layers");
        const Mode mode = modeOf(input);
        if (!input.note.isEmpty() && mode != TestCase)
            lines << (mode == Text ? unbroken(input.note) : tr("Note: %1").arg(input.note));
        if (input.value) lines << tr("Given: %1").arg(models::shown(input.value->typeText()));
    }
    const QString state = lines.join(QLatin1Char('\n'));
    m_state->setText(state);
    m_state->setVisible(!state.isEmpty());
    QPalette palette = m_state->palette();
    palette.setColor(QPalette::WindowText, theme::color(role));
    m_state->setPalette(palette);
}

QString InputEditor::refusal() const { return m_isRefused ? m_state->text() : QString(); }

void InputEditor::chooseMode(int index) {
    const auto mode = static_cast<Mode>(m_mode->itemData(index).toInt());
    const ModelInput* input = m_inputs.find(m_name);
    if (!input) return;
    m_emptied.reset();
    InputSpec spec = input->spec;
    tensor::TypeInfo type = input->type;
    for (const io::InputInfo& info : document::inputInfos(*m_opened.document()))
        if (info.name == m_name.toStdString()) type = document::usualType(info);
    switch (mode) {
        case Draw:
            if (modeOf(*input) != Draw) spec.source = context::text(io::drawingItem({}));
            break;
        case Random: spec.source = context::randomSource(type, 0, 1); break;
        case Zeros: spec.source = context::randomSource(type, 0, 0); break;
        case Numbers: spec.source = context::defaultNumbers(type); break;
        case Text:
            if (!isTextSource(spec.source))
                spec.source =
                    textSource(tr("Hello world"), context::text(io::tokenizerBeside(m_opened.document()->location)));
            break;
        case None: spec.source.clear(); break;
        case TestCase: return;  // has them already
        default: browse(); return;
    }
    m_inputs.setSpec(m_name, spec);  // after which there are other inputs
    if (const ModelInput* given = m_inputs.find(m_name); given && mode == Numbers) fieldOf(modeOf(*given))->setFocus();
    if (mode == Draw) m_draw->openPad();
    if (mode == Text) (m_tokenizer->text().isEmpty() ? m_tokenizer : m_source)->setFocus();
}

void InputEditor::noteEmptied(const ModelInput& input, const QString& source) {
    if (!source.isEmpty() || input.spec.source.isEmpty()) return;
    m_emptied = modeOf(input);
    m_emptiedField = fieldOf(*m_emptied);
}

void InputEditor::giveNumber(const QString& number) {
    const ModelInput* input = m_inputs.find(m_name);
    if (input) give(number.isEmpty() ? number : withNoiseOf(input->spec.source, number));
}

void InputEditor::steer(const QString& source, bool isDone) {
    m_waiting.reset();
    if (!isDone && m_runs.isLive() && goesOn(m_runs)) m_waiting = source;
    else give(source);
}

void InputEditor::give(const QString& source) {
    const ModelInput* input = m_inputs.find(m_name);
    if (!input || input->spec.source == source) return;
    noteEmptied(*input, source);
    InputSpec spec = input->spec;
    spec.source = source;
    m_number->setNumber(plainSource(source));
    m_inputs.setSpec(m_name, spec);
}

void InputEditor::giveTyped() {
    const bool isTyped = m_source->isModified() || (!m_textRow->isHidden() && m_tokenizer->isModified());
    if (!m_source->isHidden() && isTyped) commit();
    if (!m_number->isHidden() && m_number->isModified()) giveNumber(m_number->number());
}

void InputEditor::commit() {
    const ModelInput* input = m_inputs.find(m_name);
    if (!input) return;
    InputSpec spec;
    const bool isField = fieldOf(modeOf(*input)) != m_source;
    spec.source = isField                ? input->spec.source
                  : chosenMode() == Text ? textSource(m_source->text(), m_tokenizer->text().trimmed())
                                         : m_source->text().trimmed();
    if (!isField && chosenMode() == Numbers && !spec.source.isEmpty())
        spec.source = context::withBrackets(spec.source, input->type);
    if (!isField && !spec.source.isEmpty() && plainSource(spec.source) == spec.source)
        spec.source = withNoiseOf(input->spec.source, spec.source);
    spec.image.resize = m_resize->isChecked();
    spec.image.preset = m_preset->currentData().toString();
    m_source->setModified(false);
    m_tokenizer->setModified(false);
    noteEmptied(*input, spec.source);
    if (!isField && chosenMode() == File && spec != input->spec && QFileInfo(spec.source).isDir())
        return m_folder->openFolder(spec.source);
    if (spec != input->spec) m_inputs.setSpec(m_name, spec);
}

void InputEditor::browse() {
    auto* dialog = new QFileDialog(this, tr("Value of input %1").arg(m_name));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilters(
        {tr("Values, images, recordings and tables (%1)").arg(valueFilePatterns()), tr("All files (*)")});
    const ModelInput* input = m_inputs.find(m_name);
    if (input && input->spec.isFile()) dialog->setDirectory(QFileInfo(input->spec.source).absolutePath());
    connect(dialog, &QFileDialog::fileSelected, this, &InputEditor::showFile);
    connect(dialog, &QFileDialog::finished, this, &InputEditor::refresh);
    dialog->open();
}

void InputEditor::browseTokenizer() {
    auto* dialog = new QFileDialog(this, tr("Tokenizer of input %1").arg(m_name));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilters({tr("Tokenizers and vocabularies (*.json *.txt)"), tr("All files (*)")});
    const std::string known = textIn(m_inputs.find(m_name)->spec.source).part;
    const std::string path = known.substr(0, io::tokenizerPathBytes(known));
    if (!path.empty()) dialog->setDirectory(QFileInfo(context::text(path)).absolutePath());
    connect(dialog, &QFileDialog::fileSelected, this, [this, path](const QString& chosen) {
        m_tokenizer->setText(chosen + m_tokenizer->text().mid(context::text(path).size()));
        commit();
    });
    dialog->open();
}

QString InputEditor::sourceOfFile(const QString& path) const {
    const QString source = m_inputs.find(m_name)->spec.source;
    if (!isTextSource(source) || io::isNamedAsData(path.toStdString())) return path;
    const io::TextItem item = textIn(source);
    const std::size_t known = io::tokenizerPathBytes(item.part);
    const bool isTokenizer = known == 0 || path.endsWith(QLatin1String(".json"), Qt::CaseInsensitive);
    if (!isTokenizer) return path + QLatin1Char('#') + context::text(item.part);
    return textSource(context::text(item.text), path + context::text(item.part.substr(known)));
}

void InputEditor::showFile(const QString& path) {
    const ModelInput* input = m_inputs.find(m_name);
    if (!input) return;
    if (QFileInfo(path).isDir()) return m_folder->openFolder(path);
    InputSpec spec = input->spec;
    spec.source = withNoiseOf(spec.source, sourceOfFile(path));
    m_inputs.setSpec(m_name, spec);  // chosen again, an archive fills the other inputs again
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
