#pragma once

#include <QFrame>

#include <optional>
#include <vector>

#include "ui/context/input_spec.h"
#include "ui/context/inputs.h"
#include "ui/context/open_model.h"
#include "ui/context/runs.h"

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QToolButton;

namespace sonde::widgets {
class ElidedLabel;
class NumberField;
}  // namespace sonde::widgets

namespace sonde::panels {

class DrawPart;
class FolderPart;
class InputPart;

/// Chooses where one model input's value comes from: a file, a drawing, random numbers, zeros, numbers (a field for one
/// number, a check box for a bool, text for a list), or a text with the file of its tokenizer; its parts change it
/// further. A file may be dropped on it.
class InputEditor : public QFrame {
    Q_OBJECT
  public:
    InputEditor(context::OpenModel& opened, context::Runs& runs, context::Inputs& inputs, const QString& inputName,
                QWidget* parent = nullptr);

    /// Shows what the context has for the input now.
    void refresh();
    /// Gives the input what was typed and not confirmed yet: a run takes what its field shows.
    void giveTyped();
    /// Why what it gives cannot be taken, as the text below says; empty: it can.
    QString refusal() const;
    const QLabel& state() const { return *m_state; }
    /// Whether the input can be drawn; then draw() makes its value a drawing and shows the pad.
    bool canDraw() const;
    void draw();
    /// The folder of the input's file.
    FolderPart& folder() { return *m_folder; }

  Q_SIGNALS:
    /// A number or a text is typed and not confirmed yet.
    void numberTyped();

  protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    /// TestCase is a choice only while the input has values that no text gives.
    enum Mode { File, Draw, Random, Zeros, Numbers, Text, None, TestCase };
    void addModes();
    void addTextRow();
    void addParts();
    void chooseMode(int index);
    Mode chosenMode() const;
    void commit();
    /// A source with the noise that the input has.
    void giveNumber(const QString& number);
    void give(const QString& source);
    /// A source of many while something is dragged: where a run goes on by itself, the newest is given after it, so
    /// that there is something to be seen of all of them.
    void steer(const QString& source, bool isDone);
    /// Before what the user typed is given.
    void noteEmptied(const context::ModelInput& input, const QString& source);
    void showState(const context::ModelInput& input);
    Mode modeOf(const context::ModelInput& input) const;
    /// The control that takes the source in a mode.
    QWidget* fieldOf(Mode mode) const;
    void browse();
    void browseTokenizer();
    void showFile(const QString& path);
    /// What a file that is dropped or chosen becomes: in a text its tokenizer, or the text with the same tokenizer.
    QString sourceOfFile(const QString& path) const;
    void arrange(bool isNarrow);

    context::OpenModel& m_opened;
    context::Runs& m_runs;
    context::Inputs& m_inputs;
    QString m_name;
    QGridLayout* m_grid;
    bool m_isNarrow = false;
    widgets::ElidedLabel* m_type;
    QComboBox* m_mode;
    QLineEdit* m_source;
    QToolButton* m_browse;
    widgets::NumberField* m_number;
    QCheckBox* m_flag;
    context::NumberField m_field = context::NumberField::List;
    QWidget* m_textRow;      ///< the tokenizer of a text
    QLineEdit* m_tokenizer;  ///< its file with what stands behind it
    QToolButton* m_chooseTokenizer;
    QWidget* m_imageRow;
    QCheckBox* m_resize;
    QComboBox* m_preset;
    DrawPart* m_draw;
    FolderPart* m_folder;
    std::vector<InputPart*> m_parts;
    std::optional<QString> m_waiting;  ///< of steer(): for the end of the run
    QLabel* m_state;
    bool m_isRefused = false;
    /// How it was given when its field was emptied: both stay as they are until something else is given.
    std::optional<Mode> m_emptied;
    QWidget* m_emptiedField = nullptr;
};

}  // namespace sonde::panels
