#pragma once

#include <QString>

#include <vector>

namespace sonde::window {

/// What one input of a sample is given.
struct SampleInput {
    QString name;    ///< of the input; empty: the first
    QString source;  ///< as InputSpec::source
    QString preset;  ///< of io::imagePresets(), if the source is a picture
};

/// A model with input to run it on, that comes with Sonde.
struct Sample {
    QString id;           ///< of scripts and tests
    QString title;        ///< "Digits: draw one"
    QString description;  ///< what it is, and how accurate
    QString next;         ///< what to do once it is open
    QString model;        ///< path or zoo:NAME
    std::vector<SampleInput> inputs;
    QString picture;    ///< file with its picture; empty: `icon`
    QString icon;       ///< of theme::icon()
    bool runs = false;  ///< when it is opened and with each change, as its output means something
};

/// Those whose files are there, trained ones first.
std::vector<Sample> samples();

/// A file or folder of resources/, in the source tree or where it was installed; empty if it is not there.
QString resourcePath(const QString& relative);

}  // namespace sonde::window
