// Package jupyter reads, executes, writes and compares notebooks without Python.
//
// It has four parts. A [Notebook] is the nbformat 4.5 document in one canonical
// byte form. A [Kernel] is a GoNB process and the client that talks to it over
// the Jupyter messaging protocol. A [Runner] executes a whole notebook in a
// fresh kernel and normalises what must not differ from run to run. [Compare]
// sets two runs side by side: text exactly, pictures by their pixels.
//
// The protocol is described at https://jupyter-client.readthedocs.io/en/stable/messaging.html,
// the file format at https://nbformat.readthedocs.io/en/latest/format_description.html.
package jupyter
